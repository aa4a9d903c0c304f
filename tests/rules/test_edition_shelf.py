"""The rules of one table: its seating and its overrides put in place."""

from dataclasses import replace

import pytest

from services.rules.domain.edition import Edition
from services.rules.domain.parameters import Override
from services.rules.editions.loader import EDITIONS, Catalogue, load_catalogue
from services.rules.editions.ports import OverrideError, UnknownEditionError
from services.rules.editions.shelf import EditionShelf, with_overrides


def override(parameter: str, **fields: object) -> Override:
    defaults = {"least": None, "most": None, "step": 1, "never": False, "choices": ()}
    return Override(parameter=parameter, **{**defaults, **fields})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def open_edition() -> Edition:
    """The flagship, as if its tables could change some parameters."""
    edition = load_catalogue(EDITIONS).get("industry").at("people")
    allowed = (
        override("start_cash", least=1000, most=2000, step=100),
        override("round_limit", least=10, most=100, never=True),
        override("jailed_owner_rent", choices=(True, False)),
        override("build_where", choices=("group", "token")),
        override("turn_s", least=10, most=600),
        override("turn_reserve_s", least=0, most=300),
    )
    return replace(edition, overrides=allowed)


def test_overrides_are_put_in_place(open_edition: Edition) -> None:
    changed = with_overrides(
        open_edition,
        (("start_cash", "1900"), ("round_limit", "30"), ("jailed_owner_rent", "false"), ("build_where", '"group"')),
    )
    assert (changed.start_cash, changed.round_limit, changed.jailed_owner_rent, changed.build_where) == (
        1900,
        30,
        False,
        "group",
    )
    assert changed.salary == open_edition.salary


@pytest.mark.parametrize("text", ["null", '"never"', "never"])
def test_none_is_written_in_either_way(open_edition: Edition, text: str) -> None:
    limited = replace(open_edition, round_limit=50)
    assert with_overrides(limited, (("round_limit", text),)).round_limit is None


def test_a_text_that_is_no_json_stands_for_itself(open_edition: Edition) -> None:
    assert with_overrides(open_edition, (("build_where", "group"),)).build_where == "group"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("start_cash", "900"),
        ("start_cash", "2100"),
        ("start_cash", "1950"),
        ("start_cash", "true"),
        ("start_cash", "1e3"),
        ("start_cash", "null"),
        ("start_cash", '{"a": 1}'),
        ("round_limit", "9"),
        ("build_where", '"moon"'),
        ("jailed_owner_rent", "2"),
        ("salary", "100"),
        ("board", '"metro"'),
        ("no_such_thing", "1"),
    ],
)
def test_what_a_table_may_not_change_is_refused(open_edition: Edition, name: str, text: str) -> None:
    with pytest.raises(OverrideError) as refused:
        with_overrides(open_edition, ((name, text),))
    assert refused.value.fields["parameter"] == name
    assert str(refused.value).startswith(name)


@pytest.mark.parametrize("name", ["start_cash", "build_where"])
def test_a_value_however_deep_is_refused_like_any_other(open_edition: Edition, name: str) -> None:
    for depth in (1, 10, *range(100, 1_100, 10), 2_000, 100_000):
        for text in ("[" * depth, "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
            with pytest.raises(OverrideError) as refused:
                with_overrides(open_edition, ((name, text),))
            assert refused.value.fields["value"] == text[:40]


def test_a_parameter_given_twice_is_refused(open_edition: Edition) -> None:
    with pytest.raises(OverrideError, match="start_cash is given twice"):
        with_overrides(open_edition, (("start_cash", "1900"), ("start_cash", "1800")))


def test_overrides_that_do_not_fit_together_are_refused(open_edition: Edition) -> None:
    with pytest.raises(OverrideError, match="turn_reserve_s must be below turn_s, 20"):
        with_overrides(open_edition, (("turn_s", "20"), ("turn_reserve_s", "30")))


def test_tables_share_the_rules_that_they_have_in_common(open_edition: Edition) -> None:
    shelf = EditionShelf(Catalogue(editions={("industry", 1): load_catalogue(EDITIONS).get("industry")}))
    assert shelf.flat("industry", 1, "solo", ()) is shelf.flat("industry", 1, "solo", ())
    assert shelf.flat("industry", 1, "solo", ()).first_player == "person"
    assert shelf.get("industry", 0).version == 1
    for edition_id, version in (("chess", 0), ("industry", 2)):
        with pytest.raises(UnknownEditionError):
            shelf.get(edition_id, version)
