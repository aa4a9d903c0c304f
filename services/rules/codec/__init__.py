"""The core's values as protobuf messages, and back: part of the rules as a library, free of I/O."""
