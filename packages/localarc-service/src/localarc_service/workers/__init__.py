"""Several worker processes behind one address: `localarc serve --workers N`.

    supervisor.py  the parent: starts the workers, restarts those that die, stops them all
    claim.py       what the parent holds: the data folder, or the group in a database
    worker.py      one of them: a service on a store of its own, listening on the shared port
    app.py         its ASGI application: a request is served here, by its owner, or by all together
    connection.py  a shorter way for small requests of streams that another worker owns
    handover.py    connections that move to the worker whose streams they use
    channel.py     requests and responses between workers, over a Unix socket
    merging.py     the responses of all workers as one
    directory.py   the names of the streams of all workers, for limits
    shared_lock.py, shared_text.py   between the parent and its workers
    offline.py     the stores of all workers as one, while no service runs
    rebalance.py   a copy of a data folder for another number of workers
    layout.py      which worker owns a stream, and where its data is

A stream belongs to the worker that its name hashes to, which serves it as a single process would.
"""
