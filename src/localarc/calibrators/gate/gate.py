"""Gate: answer or escalate, with a promise about the share of wrong answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Self

from localarc import validation
from localarc.calibrators.auto.groups import Groups, weights_of
from localarc.calibrators.auto.inputs import features
from localarc.calibrators.auto.settings import BYTES
from localarc.calibrators.gate import state as stored
from localarc.calibrators.gate.base import TopicBase, Topics
from localarc.calibrators.gate.bettors import GateBettors, bettor_settings
from localarc.calibrators.gate.certificate import GateCertificate, certify
from localarc.calibrators.gate.counts import Counts
from localarc.calibrators.gate.decisions import (
    Decision,
    Round,
    Rounds,
    checked_key,
    decision_id,
    not_open,
    not_sent,
    not_withheld,
)
from localarc.calibrators.gate.inputs import Input, confidence_of, outcome_of, split
from localarc.calibrators.gate.promise import terms_of, terms_of_everyone
from localarc.calibrators.gate.settings import checked_settings
from localarc.calibrators.gate.summary import GateSummary
from localarc.calibrators.one_thread import OneThread
from localarc.calibrators.saved import Saved
from localarc.engine.auto import layout
from localarc.serialization import StateError
from localarc.validation import FloatArray

_Place = tuple[FloatArray, Topics, tuple[bool, ...] | None]


class Gate(Saved, OneThread):
    """Decides whether a model may answer by itself, so that few of its answers are wrong.

    An answer goes out if the model's confidence exceeds a threshold, which depends on the topic.
    The gate learns only from answers that went out. For every topic, and every stretch of time up
    to now, whatever the data,

        wrong <= wrong_at_most x answered + credit x withheld + bound

    with a bound that grows like the square root of the number of wrong answers: theorem E.

    Parameters
    ----------
    wrong_at_most : float
        The target: the share of answers that may be wrong, in (0, 1).
    credit : float, default 0.001
        What a withheld round adds to the promise, in wrong answers. With 0, a topic that has used
        up its bound is never tried again.
    idle : float, default 0.003
        How fast the base threshold of a topic falls while its answers are withheld, and the credit
        pays for it: by half this part of the spread of its confidences in each round. The promise
        does not depend on it.
    initial_threshold : float or None, default None
        The threshold of a topic of which no outcome is known; by default `1 - wrong_at_most`, right
        if confidences are probabilities.
    shadow : bool, default False
        Whether the gate decides and does not act: `answer` is always True, so that everything goes
        out and has its outcome reported, and the gate does what it would do without seeing the
        outcomes of answers that it would have withheld. `would_answer` is the decision.
    auditable : int, default 1000
        How many withheld decisions are remembered for `audit`, or for feedback in shadow mode.
    max_bytes : int, default 9000000
        Bounds the table of topics and places.

    Examples
    --------
    >>> gate = Gate(wrong_at_most=0.05)
    >>> d = gate.decide(x=["billing", 0.7], confidence=0.97)  # topic, similarity
    >>> d.answer, d.threshold < 0.97
    (True, True)
    >>> gate = gate.feedback(d.id, wrong=False)
    >>> d = gate.decide(x=["billing", 0.1], confidence=0.40)
    >>> d.answer
    False
    >>> gate = gate.audit(d.id, wrong=True)  # optional: somebody looked
    >>> gate.summary().topics["billing"].answered
    1.0

    References
    ----------
    Orabona and Pal, *Coin betting and parameter-free online learning*, NeurIPS 2016. El-Yaniv and
    Wiener, *On the foundations of noise-free selective classification*, JMLR 2010 (answering less
    to be wrong less).
    """

    def __init__(
        self,
        wrong_at_most: float,
        *,
        credit: float = 0.001,
        idle: float = 0.003,
        initial_threshold: float | None = None,
        shadow: bool = False,
        auditable: int = 1000,
        max_bytes: int = BYTES,
    ) -> None:
        self._settings = checked_settings(
            wrong_at_most, credit, idle, initial_threshold, auditable, max_bytes
        )
        self._rules = bettor_settings(self.alpha, max_bytes)
        self.shadow = validation.flag("shadow", shadow, "With True, every answer goes out.")
        self._busy = False
        self.reset()

    def reset(self) -> Self:
        """Forget everything learned, and all open decisions."""
        settings = self._settings
        self._base = TopicBase(
            self.alpha, settings.idle, settings.credit, settings.initial_threshold
        )
        self._bettors = GateBettors(self._base, self._rules)
        self._texts: tuple[bool, ...] | None = None
        self._all, self._counts = Counts(), dict[Hashable, Counts]()
        self._sent: Rounds = {}
        self._withheld: Rounds = {}
        self._keys: dict[str, int] = {}  # of both
        return self

    # ---- decisions ---------------------------------------------------------------------------

    def threshold(self, x: Input = None, groups: Groups = ()) -> float:
        """The confidence that an answer must exceed; changes nothing.

        Parameters
        ----------
        x : numbers, texts or None, default None
            What the round is about, as in `decide`.
        groups : hashable, list, set or mapping, default ()
            Topics of the round, in addition to the texts in x.
        """
        with self._exclusive():
            point, topics, _ = self._place(x, groups)
            return self._bettors.threshold(point, groups=topics)

    def decide(
        self,
        x: Input = None,
        *,
        confidence: float,
        groups: Groups = (),
        key: str | None = None,
    ) -> Decision:
        """Whether the answer of this round may go out.

        Parameters
        ----------
        x : numbers, texts or None, default None
            What the round is about. Texts are topics, each with a promise of its own; numbers are
            features, and places in their space have one, too. None or NaN where one is missing.
        confidence : float
            How sure the model is of its answer, in [0, 1].
        groups : hashable, list, set or mapping, default ()
            Topics of the round, in addition to the texts in x; {topic: weight} if it belongs to
            them in part.
        key : str or None, default None
            An id of your own, such as that of the message, to report the outcome with.
        """
        sure = confidence_of(confidence)
        with self._exclusive():
            self._check_key(key)
            point, topics, texts = self._place(x, groups)
            threshold = self._bettors.threshold(point, groups=topics)
            answered = sure > threshold
            made = Round(topics, sure, threshold, answered or self.shadow, answered, key)
            number = self.decisions + 1
            self._charge(number, made, point)
            self._texts = texts
            if key is not None:
                self._keys[key] = number
            if not answered:
                self._keep(number, made)
            self._base.see(topics, sure, answered)
        return made.decision(number)

    def _charge(self, number: int, made: Round, point: FloatArray) -> None:
        """Tell the bettors: an answer waits for its outcome, a withheld round is charged now."""
        if made.answered:
            self._sent[number] = made
            self._bettors.ask(point, groups=made.topics)
        else:
            self._bettors.update(point, self.alpha - self.credit, groups=made.topics)

    def _check_key(self, key: str | None) -> None:
        if checked_key(key) in self._keys:
            raise ValueError(f"key {key!r:.60} belongs to a decision that waits for its outcome.")

    def _place(self, x: Input, groups: Groups) -> _Place:
        """Features, topics, and which parts of x are texts."""
        numbers, words, texts = split(x, self._texts)
        point, _ = features(numbers, self._bettors.features_fixed)
        return point, weights_of(groups) | dict.fromkeys(words, 1.0), texts

    def _keep(self, number: int, made: Round) -> None:
        """Count a withheld round, and remember it for an audit."""
        for weight, counts in self._counted(made.topics):
            counts.withhold(weight)
        self._withheld[number] = made
        while len(self._withheld) > self._settings.auditable:
            self._drop(self._withheld, next(iter(self._withheld)))

    def _drop(self, rounds: Rounds, number: int) -> None:
        """Remember a round no longer."""
        self._keys.pop(rounds.pop(number).key or "", None)

    def _counted(self, topics: Topics) -> Iterator[tuple[float, Counts]]:
        yield 1.0, self._all
        for name, weight in topics.items():
            yield weight, self._counts.setdefault(name, Counts())

    # ---- outcomes ----------------------------------------------------------------------------

    def feedback(self, decision: Decision | int | str, wrong: bool) -> Self:
        """Report the outcome of an answer that went out, in any order, any time later.

        Parameters
        ----------
        decision : Decision, int or str
            What `decide` returned, its id, or your key.
        wrong : bool
            Whether the answer was wrong.
        """
        bad = outcome_of(wrong)
        with self._exclusive():
            number = self._number(decision)
            made = self._pending().get(number)
            if made is None:
                return self._count_rehearsal(number, bad)
            self._bettors.tell(number, float(bad))
            self._drop(self._sent, number)
            for weight, counts in self._counted(made.topics):
                counts.answer(weight, bad)
            self._base.learn(made.topics, made.confidence, bad)
        return self

    def _count_rehearsal(self, number: int, wrong: bool) -> Self:
        """Count an answer that went out in shadow mode only; nothing is learned from it."""
        made = self._withheld.get(number)
        if made is None:
            raise not_open(number)
        if not made.sent:
            raise not_sent(number)
        self._check(number, made, wrong)
        return self

    def audit(self, decision: Decision | int | str, wrong: bool) -> Self:
        """Report whether a withheld answer would have been wrong, because somebody looked.

        The base learns from it where its threshold could be. The bettors do not, because the
        promise rests on answers that went out. Choose what to audit at random, e.g. one in twenty.

        Parameters
        ----------
        decision : Decision, int or str
            What `decide` returned, its id, or your key.
        wrong : bool
            Whether the answer would have been wrong.
        """
        bad = outcome_of(wrong)
        with self._exclusive():
            number = self._number(decision)
            made = self._withheld.get(number)
            if made is None:
                raise not_withheld(number) if number in self._pending() else not_open(number)
            self._check(number, made, bad)
            self._base.audit(made.topics, made.confidence, bad)
        return self

    def _check(self, number: int, made: Round, wrong: bool) -> None:
        self._drop(self._withheld, number)
        for weight, counts in self._counted(made.topics):
            counts.check(weight, wrong)

    def forget(self, decision: Decision | int | str) -> Self:
        """Stop waiting for the outcome of an answer: it counts neither as right nor as wrong.

        Parameters
        ----------
        decision : Decision, int or str
            What `decide` returned, its id, or your key.
        """
        with self._exclusive():
            number = self._number(decision)
            if number in self._withheld:
                self._drop(self._withheld, number)
            elif number in self._pending():
                self._bettors.forget(number)
                self._drop(self._sent, number)
            else:
                raise not_open(number)
        return self

    def _number(self, decision: Decision | int | str) -> int:
        """The number of a decision, or the error for a key that no open one has."""
        found = decision_id(decision)
        if isinstance(found, int):
            return found
        if found not in self._keys:
            raise not_open(found)
        return self._keys[found]

    @property
    def pending(self) -> tuple[Decision, ...]:
        """The answers whose outcome is still to come, in the order in which they went out."""
        return tuple(made.decision(number) for number, made in self._pending().items())

    def _pending(self) -> Rounds:
        """The bettors know best: an interrupted call may have left a round that they closed."""
        if len(self._sent) != self._bettors.engine.numbers[layout.PENDING]:
            waiting = (ticket.id for ticket in self._bettors.pending)
            self._sent = {number: self._sent[number] for number in waiting}
        return self._sent

    # ---- what was learned --------------------------------------------------------------------

    @property
    def alpha(self) -> float:
        """The target: the share of answers that may be wrong."""
        return self._settings.wrong_at_most

    @property
    def credit(self) -> float:
        """What a withheld round adds to the promise, in wrong answers."""
        return self._settings.credit

    @property
    def rounds(self) -> int:
        """The decisions that are counted: withheld ones, and answers with a known outcome."""
        return self._bettors.rounds

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return int(self._bettors.engine.numbers[layout.ISSUED])

    @property
    def waiting(self) -> dict[int, float]:
        """The threshold of each answer whose outcome is still to come, by its number."""
        return {number: made.threshold for number, made in self._pending().items()}

    @property
    def consistent(self) -> bool:
        """Whether the bettors saw what was counted, for everyone; `summary` also says by topic."""
        return bool(terms_of_everyone(self)["consistent"])

    @property
    def nbytes(self) -> int:
        """The size of the table of topics and places, in bytes."""
        return self._bettors.nbytes

    def summary(self) -> GateSummary:
        """The verdict, the three terms of the promise by topic, and what must be withheld.

        Returns
        -------
        GateSummary
            Prints as a table.
        """
        with self._exclusive():
            everyone, topics = terms_of(self)
            waiting = len(self._pending())
        return GateSummary(**everyone, topics=topics, pending=waiting, shadow=self.shadow)

    def certificate(self) -> GateCertificate:
        """What is guaranteed about the share of wrong answers, of everyone and of each topic.

        Its rounds are answers, and its bounds are `(credit x withheld + bound) / answered`.
        """
        return certify(self.summary(), self._bettors.certificate())

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Everything, with open decisions, for storage."""
        with self._exclusive():
            return stored.encode(self)

    @classmethod
    def from_state(cls, data: bytes) -> Self:
        """The gate whose `state` this was, with its open decisions.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        return stored.decode(cls, data)  # type: ignore[no-any-return]

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        found = type(self).from_state(data)
        if found._settings != self._settings:
            raise StateError(f"the state is that of {found!r}, not of {self!r}. Use from_state.")
        with self._exclusive():
            self.__dict__.update(vars(found) | {"_busy": True})
        return self

    def __repr__(self) -> str:
        shadow = ", shadow=True" if self.shadow else ""
        return f"Gate({self._settings.describe()}{shadow}, rounds={self.rounds})"
