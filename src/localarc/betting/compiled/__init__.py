"""Theorem E, compiled: bettors on overlapping nodes, and the ledger of late rounds.

* `bettors.py`: the bets of a round, and what its loss does to them. `wealth.py`: the bet of a node.
* `account.py`: what the bets were granted.
* `ledger.py`: pending rounds, and `arrivals.py`: what arrived since each threshold went out.
  `pending.py`: the same as it is stored.
"""
