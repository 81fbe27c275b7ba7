"""The HTTP service. A request passes through these layers, top to bottom, and back:

    server.py     the process: data folder lock, socket, uvicorn, signals
    app.py        the ASGI application; app_state.py holds its parts
    api/          endpoints (the table), pipeline (request -> operation -> response), auth, OpenAPI
    storage/      writer (one thread, group commit), store (SQLite events and snapshots)
    streams/      manager (what a request means), stream (a calibrator; `apply` is the only change)
    storage/      events and format: what is stored, versioned; migrations from older versions

`event_bus.py` sends events to subscribers, `metrics.py` serves Prometheus, `page/` the status page.
Message types are in `localarc.wire`, shared with the client.
"""
