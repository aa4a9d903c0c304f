"""Faults in the cells and cards of a board, each by file, line and column."""

from pathlib import Path

import pytest

from services.rules.editions.loader import EditionError, Problem, load_edition
from tests.rules.edition_files import write


def problems_after(folder: Path, kind: str, old: str, new: str) -> list[Problem]:
    """The problems of the flagship after one replacement in its cells or cards."""
    path = write(folder)
    data = folder / "boards" / f"industry.{kind}.csv"
    text = data.read_text(encoding="utf-8")
    assert old in text
    data.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(EditionError) as caught:
        load_edition(path)
    return list(caught.value.problems)


BAD_CELLS = [
    ("1,property,bakery,bread_stall,60", "1,property,bakery,bread_stall,61", 3, "price", "61 has no whole half"),
    ("1,property,bakery,bread_stall,60", "1,property,bakery,bread_stall,x", 3, "price", "is no whole number: 'x'"),
    ("1,property,bakery,bread_stall,60", "1,property,bakery,bread_stall,0", 3, "price", "0 is not within 1 to"),
    ("1,property,bakery,bread_stall,60", "1,property,bakery,bread_stall,", 3, "price", "is empty for kind property"),
    ("1,property,bakery", "2,property,bakery", 3, "index", "must be 1, is '2'"),
    ("1,property,bakery", "1,castle,bakery", 3, "kind", "unknown kind 'castle'"),
    ("39,property,it,", "39,property,utilities,", 41, "group", "utilities mixes utility and property"),
    (",flour_mill,", ",bread_stall,", 5, "key", "bread_stall stands on line 3 already"),
    (",flour_mill,", ",Flour Mill,", 5, "key", "is no key"),
    ("flour_mill,60,50,6,30", "flour_mill,60,50,6,3", 5, "rent0", "rents must not fall"),
    ("flour_mill,60,50", "flour_mill,60,100", 5, "build_cost", "differs within group bakery"),
    ("river_port,200,,25,50,120", "river_port,200,,25,50,", 20, "rent0", "2 rents for a group of 3"),
    ("start,,start,,,,,,,,,200", "start,,start,,,,,,,,,300", 2, "amount", "300 is not the salary, 200"),
    ("35,tax,,excise_duty,", "35,tax,,excise_duty,5", 37, "price", "must be empty for kind tax"),
    (",Flour Mill,", ",,", 5, "name_en", "is empty"),
    ("10,jail,,inspection", "10,free,,inspection", 1, "kind", "0 cells of kind jail instead of one"),
    ("2,card,support", "2,card,luck", 4, "group", "deck luck is not among the decks"),
    ("30,goto_jail,,tax_service,,,,", "30,goto_jail,,tax_service,,,", 32, "file", "15 columns instead of 16"),
    ("index,kind", "number,kind", 1, "file", "the columns must be index,kind"),
]


@pytest.mark.parametrize(("old", "new", "line", "field", "reason"), BAD_CELLS)
def test_a_bad_cell_is_reported(tmp_path: Path, old: str, new: str, line: int, field: str, reason: str) -> None:
    found = problems_after(tmp_path, "cells", old, new)
    assert any(
        (problem.file, problem.line, problem.field) == ("industry.cells.csv", line, field) and reason in problem.reason
        for problem in found
    ), "\n".join(map(str, found))


def test_a_board_needs_forty_cells(tmp_path: Path) -> None:
    last = "39,property,it,robotics_lab,400,200,64,315,850,1520,1825,2125,,"
    found = problems_after(tmp_path, "cells", last, f"{last}x,y,z\n40,property,it,other,400,200,1,1,1,1,1,1,,")
    assert Problem("industry.cells.csv", 42, "file", "41 cells instead of 40") in found


BAD_CARDS = [
    ("new_contracts,move_to,,,start", "new_contracts,fly_to,,,start", 2, "effect", "unknown effect 'fly_to'"),
    ("new_contracts,move_to,,,start", "new_contracts,move_to,,,moon", 2, "target", "has the key 'moon'"),
    ("new_contracts,move_to,,,start", "new_contracts,move_to,5,,start", 2, "amount", "must be empty for move_to"),
    ("move_nearest,,,transport", "move_nearest,,,casino", 4, "target", "is of kind 'casino'"),
    ("move_nearest,,,transport", "move_nearest,-1,,transport", 4, "amount", "a multiple of the rent is at least 1"),
    ("lawyer_won,release_card,1", "lawyer_won,release_card,2", 6, "amount", "needs the amount 1"),
    ("move_by,-3", "move_by,0", 7, "amount", "move_by needs 1 to 39 cells"),
    ("gain,150", "gain,", 8, "amount", "gain needs an amount of at least 1"),
    ("gain,150,", "gain,150,3", 8, "amount2", "must be empty for gain"),
    ("pay_each,50,,others", "pay_each,50,,bank", 10, "target", "must be 'others' for pay_each, is 'bank'"),
    ("support,2,state_grant", "support,1,state_grant", 13, "order", "must rise within deck support"),
    ("support,2,state_grant", "support,2,vat_refund", 13, "key", "vat_refund stands on line 12 already"),
    ("market,7,dividends", "Market,7,dividends", 8, "deck", "is no key"),
]


@pytest.mark.parametrize(("old", "new", "line", "field", "reason"), BAD_CARDS)
def test_a_bad_card_is_reported(tmp_path: Path, old: str, new: str, line: int, field: str, reason: str) -> None:
    found = problems_after(tmp_path, "cards", old, new)
    assert [(problem.file, problem.line, problem.field) for problem in found] == [("industry.cards.csv", line, field)]
    assert reason in found[0].reason
