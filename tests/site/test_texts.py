"""The texts of the terminal: complete and alike in all three languages."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from magnate.game.v1 import event_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.rules.domain.options import OptionKind
from services.rules.domain.state import DecisionKind, MoneyReason
from services.site.terminal.journal import enum_word
from services.site.terminal.texts import LANGUAGES, Texts, fill, load_texts

_CHOOSERS = {"reason", "purpose", "cause", "how", "outcome", "kind"}
_FLAGS = {"extra", "skipped", "settles", "claimed", "yes"}
SECTIONS = ("words", "time", "standstill", "reasons", "decisions", "actions", "menu", "journal")


def _wanted_of(event: str, message: object) -> set[str]:
    fields = message.fields  # type: ignore[attr-defined]
    choosing = [field for field in fields if field.name in _CHOOSERS and field.enum_type is not None]
    flags = {f"{event}.{field.name}" for field in fields if field.name in _FLAGS}
    # These two tell the word itself, so one template does for all.
    if not choosing or event in ("payment_due", "decision_opened"):
        return {event} | flags
    return {f"{event}.{enum_word(choosing[0], value.number)}" for value in choosing[0].enum_type.values if value.number}


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_is_a_template_for_each_type_of_event_and_each_reason(language: str) -> None:
    """Nothing that happens lacks its text (IND-UI-19, IND-UI-24)."""
    events = event_pb2.Event.DESCRIPTOR.oneofs_by_name["body"].fields
    wanted = set[str]().union(*(_wanted_of(field.name, field.message_type) for field in events))
    assert load_texts(language).keys("journal") == wanted


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("section", "words"), [("actions", OptionKind), ("decisions", DecisionKind), ("reasons", MoneyReason)]
)
def test_there_is_a_text_for_each_word_of_the_rules(language: str, section: str, words: object) -> None:
    """Each legal action, decision and reason of a movement of money has its text."""
    assert load_texts(language).keys(section) == set(get_args(words))


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_is_a_text_for_each_reason_why_time_stands_still(language: str) -> None:
    """Whoever waits is told why."""
    causes = {name.removeprefix("STANDSTILL_").lower() for name, number in pb.Standstill.items() if number}
    assert load_texts(language).keys("standstill") == causes


def _shape(texts: Texts, section: str) -> dict[str, tuple[list[str], int]]:
    """The fields of each template, and how many parts may be left out."""
    found = {key: texts.find(section, key) or "" for key in texts.keys(section)}
    return {key: (sorted(re.findall(r"\{(\w+)\}", text)), text.count("[")) for key, text in found.items()}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_the_languages_have_the_same_keys_and_fields(language: str, section: str) -> None:
    """A text in one language names the same things as in another."""
    assert _shape(load_texts(language), section) == _shape(load_texts("en"), section)


@pytest.mark.parametrize("language", ["uk", "ru"])
def test_no_text_is_left_in_english(language: str) -> None:
    """Every text with words in it is translated."""
    english, texts = load_texts("en"), load_texts(language)
    for section in SECTIONS:
        for key in texts.keys(section):
            words = re.sub(r"\{\w+\}", "", english.find(section, key) or "")
            if re.search(r"[A-Za-z]", words):
                assert texts.find(section, key) != english.find(section, key), key


def test_a_part_without_its_field_is_left_out() -> None:
    """Brackets hold what may be missing."""
    assert fill("{seat} is out[, place {place}].", {"seat": "Ada", "place": 2}) == "Ada is out, place 2."
    assert fill("{seat} is out[, place {place}].", {"seat": "Ada", "place": ""}) == "Ada is out."


def test_an_unknown_language_is_refused() -> None:
    """Only the three languages exist."""
    with pytest.raises(KeyError):
        load_texts("de")
