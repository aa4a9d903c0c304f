"""What every service stands on: settings, logs, telemetry, calls, streams of events. It knows no game."""

import os

# gRPC's core reads this when it is first loaded; its INFO lines (every goodbye of a peer) belong in no log of ours.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
