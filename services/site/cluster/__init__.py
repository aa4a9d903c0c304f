"""A distributed site on one machine: replicas of every service as processes, a Postgres and a Redis of its own."""
