"""The HTTP service. A request passes through these layers, top to bottom, and back:

    server.py     the process: data folder lock, socket, uvicorn, signals
    app.py        the ASGI application; app_state.py holds its parts
    access/       tokens, their file and quotas; wrong tokens; the audit log
    api/          endpoints (operations), pipeline (request -> operation -> response), auth, OpenAPI
    storage/      writer (one thread, group commit), store (events and snapshots, in SQLite);
                  postgres/ is a store that several processes can own in turn; migrations
    streams/      manager (what a request means), stream (a calibrator; `apply` is the only change),
                  watch (monitors of its losses)
    stored/       what is stored, versioned: events; the config, state and snapshot of a stream

`event_bus.py` sends events to subscribers, `webhook.py` changes of health to one receiver;
`metrics.py` and `stream_metrics.py` serve Prometheus, `page/` the status page, `logs.py` logs.
`workers/` shares the streams among several such processes behind one address.
Routes and message types are in `localarc_client.wire`, shared with the client.
"""
