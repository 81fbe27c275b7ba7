"""Gate: answer or escalate, with a promise about the share of wrong answers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from localarc import validation
from localarc.calibrators.auto.groups import Groups, weights_of
from localarc.calibrators.auto.inputs import features
from localarc.calibrators.auto.promise import full_table
from localarc.calibrators.auto.settings import BYTES, MOST_PENDING
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
)
from localarc.calibrators.gate.draws import passed_over_with, probability_of
from localarc.calibrators.gate.inputs import Input, confidence_of, numbers_and_texts, outcome_of
from localarc.calibrators.gate.promise import terms_of, terms_of_everyone
from localarc.calibrators.gate.records import Records
from localarc.calibrators.gate.settings import checked_settings
from localarc.calibrators.gate.summary import GateSummary
from localarc.calibrators.gate.transactions import Begun, Transactions, Update
from localarc.calibrators.storable import Storable
from localarc.engine.auto import layout
from localarc.serialization import StateError
from localarc.validation import FloatArray

_Place = tuple[FloatArray, Topics, tuple[bool, ...] | None]


class Gate(Storable, Transactions):
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
        How many withheld decisions are remembered for `audit`, or for `tell` in shadow mode.
    max_bytes : int, default 9000000
        Bounds the table of topics and places.
    max_pending : int, default 1000000
        How many answers may be without an outcome. `decide` then fails, until one is reported or
        forgotten.

    Examples
    --------
    >>> gate = Gate(wrong_at_most=0.05)
    >>> d = gate.decide(x=["billing", 0.7], confidence=0.97)  # topic, similarity
    >>> d.answer, d.threshold < 0.97
    (True, True)
    >>> gate = gate.tell(d.id, wrong=False)
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
        max_pending: int = MOST_PENDING,
    ) -> None:
        self.settings = checked_settings(
            *(wrong_at_most, credit, idle, initial_threshold, auditable, max_bytes, max_pending)
        )
        self._rules = bettor_settings(self.alpha, max_bytes, max_pending)
        self.shadow = validation.flag("shadow", shadow, "With True, every answer goes out.")
        self._begun: Begun | None = None
        self._learned_nothing()

    def reset(self) -> Self:
        """Forget everything learned, and all open decisions."""
        fresh = copy.copy(self)
        fresh._learned_nothing()
        return self._become(fresh)

    def _learned_nothing(self) -> None:
        settings = self.settings
        self._base = TopicBase(
            self.alpha, settings.idle, settings.credit, settings.initial_threshold
        )
        self._bettors = GateBettors(self._base, self._rules)
        self._texts: tuple[bool, ...] | None = None
        self._records = Records(settings.auditable)

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
        return self._alone(lambda: self._look(x, groups)[0])

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
        return self._alone(lambda: self._decide(x, sure, groups, checked_key(key)))

    def _decide(self, x: Input, sure: float, groups: Groups, key: str | None) -> Decision:
        if key in self._records.keys:
            raise ValueError(f"key {key!r:.60} belongs to a decision that waits for its outcome.")
        threshold, (point, topics, texts) = self._look(x, groups)
        answered = sure > threshold
        if answered:
            self._bettors.require_room(1)
        made = Round(topics, sure, threshold, answered or self.shadow, answered, key)
        number = self.decisions + 1
        updates = [
            Update(vars(self), {"_texts": texts}),
            Update(self._base.by_topic, self._base.see(topics, sure, answered)),
            *self._records.opened(number, made),
        ]
        self._change(updates, lambda: self._charge(made, point))
        return made.decision(number)

    def _charge(self, made: Round, point: FloatArray) -> None:
        """Tell the bettors: an answer waits for its outcome, a withheld round is charged now."""
        if made.answered:
            self._bettors.ask(point, groups=made.topics)
        else:
            self._bettors.update(point, self.alpha - self.credit, groups=made.topics)

    def _look(self, x: Input, groups: Groups) -> tuple[float, _Place]:
        """The threshold of a round, its features, its topics, and which parts of x are texts."""
        numbers, words, texts = numbers_and_texts(x, self._texts)
        point, _ = features(numbers, self._bettors.features_fixed)
        topics = weights_of(groups) | dict.fromkeys(words, 1.0)
        return self._bettors.threshold(point, groups=topics), (point, topics, texts)

    # ---- outcomes ----------------------------------------------------------------------------

    def tell(self, decision: Decision | int | str, wrong: bool, probability: float = 1.0) -> Self:
        """Report the outcome of an answer that went out, in any order, any time later.

        Parameters
        ----------
        decision : Decision, int or str
            What `decide` returned, its id, or your key.
        wrong : bool
            Whether the answer was wrong.
        probability : float, default 1.0
            If only some answers are looked at, drawn at random: the probability with which this one
            was to be. The outcome then stands for `1 / probability` answers, and the summary bounds
            the wrong ones among all. Call `forget` with it for those that were not drawn.
        """
        bad, drawn_with = outcome_of(wrong), probability_of(probability)
        return self._report(decision, lambda number: self._feedback(number, bad, drawn_with))

    def _feedback(self, number: int, wrong: bool, probability: float) -> None:
        made = self._records.sent.get(number)
        if made is None:  # went out in shadow mode only: counted, and nothing is learned from it
            self._change(self._checked(number, self._records.rehearsed(number), wrong))
            return
        learned = self._base.learn(made.topics, made.confidence, wrong, 1.0 / probability)
        updates = [
            Update(self._base.by_topic, learned),
            *self._records.closed(number, made),
            *self._records.counted(made.topics, lambda c, b: c.answer(b, wrong, probability)),
        ]
        self._change(updates, lambda: self._bettors.tell(number, float(wrong)))

    def _checked(self, number: int, made: Round, wrong: bool) -> list[Update]:
        records = self._records
        counted = records.counted(made.topics, lambda counts, weight: counts.check(weight, wrong))
        return [*records.closed(number, made), *counted]

    def _report(self, decision: Decision | int | str, call: Callable[[int], Any]) -> Self:
        """Make a call with the number of a decision."""
        found = decision_id(decision)
        self._alone(lambda: call(self._records.number(found)))
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
        return self._report(decision, lambda number: self._audit(number, bad))

    def _audit(self, number: int, wrong: bool) -> None:
        made = self._records.to_audit(number)
        learned = self._base.audit(made.topics, made.confidence, wrong)
        self._change([Update(self._base.by_topic, learned), *self._checked(number, made, wrong)])

    def forget(self, decision: Decision | int | str, probability: float | None = None) -> Self:
        """Stop waiting for the outcome of an answer: it counts neither as right nor as wrong.

        State the probability if it was not looked at by chance alone: those that were looked at
        then say how many of all answers are wrong. Without it, nothing is known of the answer.

        Parameters
        ----------
        decision : Decision, int or str
            What `decide` returned, its id, or your key.
        probability : float or None, default None
            The probability with which this answer was to be looked at, and was not.
        """
        passed_with = passed_over_with(probability)
        return self._report(decision, lambda number: self._forget(number, passed_with))

    def _forget(self, number: int, probability: float | None) -> None:
        records = self._records
        if number in records.withheld:
            self._change(records.closed(number, records.withheld[number]))
        elif number in records.sent:
            made = records.sent[number]
            counted = records.counted(made.topics, lambda c, weight: c.forget(weight, probability))
            updates = [*records.closed(number, made), *counted]
            self._change(updates, lambda: self._bettors.forget(number))
        else:
            raise not_open(number)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """The answers whose outcome is still to come, in the order in which they went out."""
        return tuple(made.decision(number) for number, made in self._open().items())

    @property
    def pending_count(self) -> int:
        """The number of answers whose outcome is still to come."""
        return len(self._open())

    def _open(self) -> Rounds:
        return self._alone(self._records.sent.copy)

    # ---- what was learned --------------------------------------------------------------------

    @property
    def alpha(self) -> float:
        """The target: the share of answers that may be wrong."""
        return self.settings.wrong_at_most

    @property
    def credit(self) -> float:
        """What a withheld round adds to the promise, in wrong answers."""
        return self.settings.credit

    @property
    def rounds(self) -> int:
        """The decisions that are counted: withheld ones, and answers with a known outcome."""
        return self._bettors.rounds

    @property
    def loss_sum(self) -> float:
        """The number of wrong answers among them."""
        return self.counts.wrong

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return int(self._bettors.engine.numbers[layout.ISSUED])

    @property
    def counts(self) -> Counts:
        """What happened to the rounds of everyone."""
        return self._alone(lambda: self._records.everyone)

    @property
    def waiting(self) -> dict[int, float]:
        """The threshold of each answer whose outcome is still to come, by its number."""
        return {number: made.threshold for number, made in self._open().items()}

    @property
    def consistent(self) -> bool:
        """Whether the bettors saw what was counted, for everyone; `summary` also says by topic."""
        return bool(self._alone(lambda: terms_of_everyone(self))["consistent"])

    def problems(self) -> list[str]:
        """Whether the table of nodes is too small."""
        return full_table(self.certificate(), "topic", self.settings.max_bytes)

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
        return self._alone(self._summary)

    def _summary(self) -> GateSummary:
        everyone, topics = terms_of(self)
        waiting = len(self._records.sent)
        return GateSummary(**everyone, topics=topics, pending=waiting, shadow=self.shadow)

    def certificate(self) -> GateCertificate:
        """What is guaranteed about the share of wrong answers, of everyone and of each topic.

        Its rounds are answers, and its bounds are `(credit x withheld + bound) / answered`.
        """
        return self._alone(lambda: certify(self._summary(), self._bettors.certificate()))

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Everything, with open decisions, for storage."""
        return self._alone(lambda: stored.encode(self))

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
        if found.settings != self.settings:
            raise StateError(f"the state is that of {found!r}, not of {self!r}. Use from_state.")
        return self._become(found)

    @property
    def max_pending(self) -> int:
        """How many answers may be without an outcome; can be set."""
        return self.settings.max_pending

    @max_pending.setter
    def max_pending(self, most: int) -> None:
        self._bettors.max_pending = most
        self._rules = self._bettors.settings
        self.settings = replace(self.settings, max_pending=self._rules.max_pending)

    def __repr__(self) -> str:
        shadow = ", shadow=True" if self.shadow else ""
        return f"Gate({self.settings.describe()}{shadow}, rounds={self.rounds})"
