"""Loading editions from data files: TOML for names and parameters, CSV for cells and cards.

An edition is one TOML file. It stands alone with every parameter, or names one `base` file beside it, which must
itself stand alone, and gives only what differs. `board = "x"` reads `boards/x.cells.csv` and `boards/x.cards.csv`.
A bad file is refused with all its faults at once, each with file, line and field.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from services.rules.domain.board import Card, Group, Names, build_board
from services.rules.domain.edition import Edition, SeatingValue
from services.rules.domain.parameters import Seating
from services.rules.domain.rulebook import RULES
from services.rules.editions import checks, schema
from services.rules.editions.board_files import KEY, LANGUAGES, BoardRows, read_cards, read_cells
from services.rules.editions.problems import BadValueError, EditionError, Problem
from services.rules.editions.toml_lines import TomlFile, read_toml

__all__ = ["EDITIONS", "Catalogue", "EditionError", "Problem", "load_catalogue", "load_edition"]

#: the editions that come with the program
EDITIONS = Path(__file__).resolve().parent

_TOP_KEYS = ("id", "version", "base", "names", "parameters", "at", "groups", "statements")
_STATEMENT = re.compile(r"[A-Z]{3}-[A-Z]+-[0-9]{2}")
_EDITION_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_COLOUR = re.compile(r"#[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Editions by id and version; versions of one id stand side by side."""

    editions: Mapping[tuple[str, int], Edition]

    def get(self, edition_id: str, version: int | None = None) -> Edition:
        """The edition in `version`, or in its newest one. Raises KeyError if there is none."""
        if version is None:
            version = max((number for name, number in self.editions if name == edition_id), default=0)
        return self.editions[edition_id, version]

    def newest(self) -> tuple[Edition, ...]:
        """The newest version of each edition, ordered by id."""
        return tuple(self.get(edition_id) for edition_id in sorted({name for name, _ in self.editions}))


@dataclass(frozen=True, slots=True)
class _Raw:
    """A raw value and where it stands."""

    value: Any
    file: TomlFile
    path: tuple[str, ...]

    def problem(self, reason: str, field: str = "") -> Problem:
        inner = tuple(field.split(".")) if field else ()
        return self.file.problem(reason, *self.path, *inner)


@dataclass(slots=True)
class _Sheet:
    """The merged raw content of an edition file and its base."""

    file: TomlFile
    parameters: dict[str, _Raw]
    at: dict[tuple[str, str], _Raw]
    groups: _Raw | None
    #: rule -> statement of the edition's ledger
    statements: dict[str, _Raw]


def load_edition(path: Path) -> Edition:
    """The edition of one TOML file. Raises EditionError with every problem found."""
    problems: list[Problem] = []
    file = read_toml(path)
    sheet = _read_sheet(file, problems)
    if "base" in file.data:
        sheet = _overlay(_read_base(path, file, problems), sheet)
    edition = _build(path, sheet, problems)
    if problems or edition is None:
        raise EditionError(problems)
    return edition


def load_catalogue(directory: Path = EDITIONS) -> Catalogue:
    """All editions of a directory (`*.toml`). Raises EditionError with the problems of all files."""
    editions: dict[tuple[str, int], Edition] = {}
    problems: list[Problem] = []
    paths = sorted(directory.glob("*.toml"))
    if not paths:
        problems.append(Problem(str(directory.name), 1, "file", "the directory has no *.toml"))
    for path in paths:
        try:
            edition = load_edition(path)
        except EditionError as error:
            problems.extend(error.problems)
            continue
        if (edition.id, edition.version) in editions:
            reason = f"{edition.id} version {edition.version} is in another file already"
            problems.append(read_toml(path).problem(reason, "version"))
        editions[edition.id, edition.version] = edition
    if problems:
        raise EditionError(problems)
    return Catalogue(editions=editions)


def _read_sheet(file: TomlFile, problems: list[Problem]) -> _Sheet:
    problems.extend(file.problem("unknown key", key) for key in file.data if key not in _TOP_KEYS)
    parameters: dict[str, _Raw] = {}
    for name, value in _table(file, problems, "parameters").items():
        if name not in schema.PARAMETERS:
            problems.append(file.problem("unknown parameter", "parameters", name))
        else:
            parameters[name] = _Raw(value, file, ("parameters", name))
    at: dict[tuple[str, str], _Raw] = {}
    for seating in _table(file, problems, "at"):
        if seating not in get_args(Seating):
            problems.append(file.problem("unknown seating", "at", seating))
            continue
        for name, value in _table(file, problems, "at", seating).items():
            if name not in schema.PARAMETERS or name in schema.FIXED:
                problems.append(file.problem("no parameter that can differ by seating", "at", seating, name))
            else:
                at[seating, name] = _Raw(value, file, ("at", seating, name))
    groups = _Raw(file.data["groups"], file, ("groups",)) if "groups" in file.data else None
    statements = {
        rule: _Raw(value, file, ("statements", rule)) for rule, value in _table(file, problems, "statements").items()
    }
    return _Sheet(file=file, parameters=parameters, at=at, groups=groups, statements=statements)


def _table(file: TomlFile, problems: list[Problem], *path: str) -> dict[str, Any]:
    data: Any = file.data
    for key in path:
        data = data.get(key, {})
    if not isinstance(data, dict):
        problems.append(file.problem("must be a table", *path))
        return {}
    return data


def _read_base(path: Path, file: TomlFile, problems: list[Problem]) -> _Sheet:
    name = file.data["base"]
    nothing = _Sheet(file=file, parameters={}, at={}, groups=None, statements={})
    if not isinstance(name, str) or Path(name).name != name or not (path.parent / name).is_file():
        problems.append(file.problem(f"no such file beside this one: {name!r}", "base"))
        return nothing
    base = read_toml(path.parent / name)
    if "base" in base.data:
        problems.append(file.problem(f"{name} has a base itself; only one is allowed", "base"))
        return nothing
    return _read_sheet(base, problems)


def _overlay(base: _Sheet, top: _Sheet) -> _Sheet:
    """`top` over `base`: a parameter given anew also replaces what the base has for it by seating."""
    kept = {key: raw for key, raw in base.at.items() if key[1] not in top.parameters}
    return _Sheet(
        file=top.file,
        parameters={**base.parameters, **top.parameters},
        at={**kept, **top.at},
        groups=top.groups or base.groups,
        statements={**base.statements, **top.statements},
    )


def _read_value(raw: _Raw, name: str, problems: list[Problem]) -> Any:
    """The typed value of a parameter; None, with problems added, if it is bad."""
    try:
        return schema.READERS[name](raw.value)
    except BadValueError as error:
        problems.extend(raw.problem(reason, field) for field, reason in error.faults)
        return None


def _read_overrides(raw: _Raw, entries: dict[str, Any], problems: list[Problem]) -> tuple[Any, ...]:
    overrides = []
    for name, entry in entries.items():
        try:
            overrides.append(schema.read_override(name, entry))
        except BadValueError as error:
            problems.extend(raw.problem(reason, f"{name}.{field}".rstrip(".")) for field, reason in error.faults)
    return tuple(overrides)


def _read_parameters(sheet: _Sheet, problems: list[Problem]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in schema.PARAMETERS:
        raw = sheet.parameters.get(name)
        if raw is None:
            problems.append(sheet.file.problem("is missing", "parameters", name))
        elif name in schema.READERS:
            values[name] = _read_value(raw, name, problems)
    if isinstance(values.get("overrides"), dict):
        values["overrides"] = _read_overrides(sheet.parameters["overrides"], values["overrides"], problems)
    return values


def _read_seatings(sheet: _Sheet, values: dict[str, Any], problems: list[Problem]) -> tuple[SeatingValue, ...]:
    found: list[SeatingValue] = []
    for (seating, name), raw in sheet.at.items():
        if values.get("seating") and seating not in values["seating"]:
            problems.append(raw.problem(f"the edition has no {seating} tables"))
        value = _read_value(raw, name, problems)
        found.append(SeatingValue(seating=seating, parameter=name, value=value))  # type: ignore[arg-type]
    return tuple(found)


def _build(path: Path, sheet: _Sheet, problems: list[Problem]) -> Edition | None:
    head = _read_head(sheet.file, problems)
    values = _read_parameters(sheet, problems)
    by_seating = _read_seatings(sheet, values, problems)
    decks = _read_decks(sheet.parameters.get("decks"), problems)
    well_formed = not problems
    cells, cards = _read_board(path, sheet.parameters.get("board"), problems)
    groups = _read_groups(sheet, cells, problems)
    statements = _read_statements(sheet, problems)
    if well_formed:
        _check(sheet, values, by_seating, problems)
        for fault in _data_faults(values, decks, cells, cards):
            problems.append(fault if isinstance(fault, Problem) else _parameter_problem(sheet, *fault))
    if problems:
        return None
    board = build_board(name=sheet.parameters["board"].value, cells=cells.cells, groups=groups)
    return Edition(
        **head,
        **values,
        by_seating=by_seating,
        board=board,
        decks=_build_decks(decks, cards),
        statements=statements,
    )


def _read_statements(sheet: _Sheet, problems: list[Problem]) -> dict[str, str]:
    """The statement of the ledger that each rule of the rulebook stands for."""
    for rule, raw in sheet.statements.items():
        if rule not in RULES:
            problems.append(raw.problem("no rule of the rulebook"))
        elif not isinstance(raw.value, str) or not _STATEMENT.fullmatch(raw.value):
            problems.append(raw.problem(f"must be the id of a statement, is {raw.value!r}"))
    missing = [rule for rule in RULES if rule not in sheet.statements]
    if missing:
        problems.append(sheet.file.problem(f"no statement for {', '.join(missing)}", "statements"))
    return {rule: str(raw.value) for rule, raw in sheet.statements.items()}


def _data_faults(
    values: dict[str, Any], decks: dict[str, tuple[str, ...]], cells: BoardRows, cards: BoardRows
) -> Iterable[Any]:
    if cells.cells:
        yield from checks.board_faults(values, cells)
    if cells.cells and cards.cards:
        yield from checks.deck_faults(values, decks, cells, cards)


def _parameter_problem(sheet: _Sheet, name: str, reason: str) -> Problem:
    return sheet.parameters[name].problem(reason)


def _check(
    sheet: _Sheet, values: dict[str, Any], by_seating: tuple[SeatingValue, ...], problems: list[Problem]
) -> None:
    """Check what must fit together, at the tables of each seating."""
    for seating in values["seating"]:
        own = {item.parameter: item.value for item in by_seating if item.seating == seating}
        flat = {**values, **own, "seating": (seating,)}
        for name, reason in checks.parameter_faults(flat):
            raw = sheet.at.get((seating, name)) or sheet.parameters[name]
            problems.append(raw.problem(reason))


def _read_head(file: TomlFile, problems: list[Problem]) -> dict[str, Any]:
    """`id`, `version` and `names`, which a file never takes from its base."""
    edition_id, version = file.data.get("id"), file.data.get("version")
    if not isinstance(edition_id, str) or not _EDITION_ID.fullmatch(edition_id):
        problems.append(file.problem(f"must be words of a-z, 0-9 joined by -, is {edition_id!r}", "id"))
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        problems.append(file.problem(f"must be a whole number from 1, is {version!r}", "version"))
    names = _table(file, problems, "names")
    problems.extend(file.problem("unknown key", "names", key) for key in names if key not in LANGUAGES)
    return {"id": edition_id, "version": version, "names": _read_names(file, names, ("names",), problems)}


def _read_names(file: TomlFile, table: dict[str, Any], path: tuple[str | int, ...], problems: list[Problem]) -> Names:
    for language in LANGUAGES:
        text = table.get(language)
        if not isinstance(text, str) or not text.strip():
            problems.append(file.problem("must be a text", *path, language))
    en, uk, ru = (str(table.get(language, "")) for language in LANGUAGES)
    return Names(en=en, uk=uk, ru=ru)


def _read_decks(raw: _Raw | None, problems: list[Problem]) -> dict[str, tuple[str, ...]]:
    """Deck name -> the decks of the cards file that form it: `"a + b"` is the deck a."""
    if raw is None:
        return {}
    if not isinstance(raw.value, list) or not raw.value or not all(isinstance(item, str) for item in raw.value):
        problems.append(raw.problem(f"must be a list of deck names, is {raw.value!r}"))
        return {}
    decks: dict[str, tuple[str, ...]] = {}
    for item in raw.value:
        parts = tuple(part.strip() for part in item.split("+"))
        if not all(KEY.fullmatch(part) for part in parts):
            problems.append(raw.problem(f"must be names joined by +, is {item!r}"))
        elif parts[0] in decks:
            problems.append(raw.problem(f"names {parts[0]} twice"))
        decks[parts[0]] = parts
    return decks


def _build_decks(decks: dict[str, tuple[str, ...]], cards: BoardRows) -> dict[str, tuple[Card, ...]]:
    return {
        name: tuple(replace(card, deck=name) for part in parts for card in cards.cards if card.deck == part)
        for name, parts in decks.items()
    }


def _read_board(path: Path, raw: _Raw | None, problems: list[Problem]) -> tuple[BoardRows, BoardRows]:
    nothing = BoardRows(file="", cells=(), cards=(), lines={})
    if raw is None:
        return nothing, nothing
    if not isinstance(raw.value, str) or not KEY.fullmatch(raw.value):
        problems.append(raw.problem(f"must be the name of a board, is {raw.value!r}"))
        return nothing, nothing
    boards = path.parent / "boards"
    if not (boards / f"{raw.value}.cells.csv").is_file():
        problems.append(raw.problem(f"there is no boards/{raw.value}.cells.csv"))
        return nothing, nothing
    cells = read_cells(boards / f"{raw.value}.cells.csv", problems)
    return cells, read_cards(boards / f"{raw.value}.cards.csv", cells, problems)


def _read_groups(sheet: _Sheet, cells: BoardRows, problems: list[Problem]) -> tuple[Group, ...]:
    """The groups, which must be exactly those of the board's deeds."""
    raw = sheet.groups
    if raw is None or not isinstance(raw.value, list) or not all(isinstance(item, dict) for item in raw.value):
        file = raw.file if raw else sheet.file
        problems.append(file.problem("must be tables of key, colour, en, uk, ru", "groups"))
        return ()
    on_board = {cell.group for cell in cells.cells if cell.kind in ("property", "transport", "utility")}
    groups: dict[str, Group] = {}
    for index, item in enumerate(raw.value):
        known = ("key", "colour", *LANGUAGES)
        problems.extend(raw.file.problem("unknown key", "groups", index, key) for key in item if key not in known)
        key, colour = str(item.get("key")), item.get("colour")
        if cells.cells and key not in on_board:
            problems.append(raw.file.problem(f"{cells.file} has no group {key!r}", "groups", index, "key"))
        if key in groups:
            problems.append(raw.file.problem(f"{key} stands twice", "groups", index, "key"))
        if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
            problems.append(raw.file.problem(f"must be #rrggbb, is {colour!r}", "groups", index, "colour"))
        names = _read_names(raw.file, item, ("groups", index), problems)
        groups[key] = Group(key=key, colour=str(colour), names=names)
    missing = sorted(on_board - set(groups))
    if missing:
        problems.append(raw.file.problem(f"no entry for {', '.join(missing)}", "groups"))
    return tuple(groups.values())
