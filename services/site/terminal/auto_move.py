"""Auto-move, as IND-AUTO-01 to IND-AUTO-12 say: the client sends ordinary actions for the one who switched it on."""

from __future__ import annotations

from collections.abc import Sequence

from services.rules.domain.commands import Action, EndTurn, Roll, UseReleaseCard
from services.rules.domain.options import Option

#: the visible delay before an automatic action [IND-AUTO-09]
DELAY_MS = 1_500


def planned_action(decision_kind: str, options: Sequence[Option], seat: int) -> Action | None:
    """What auto-move would do for a seat: it rolls, uses a release card, ends the turn, and nothing else
    [IND-AUTO-08]."""
    own = {option.kind: option for option in options if option.seat == seat}
    if decision_kind == "roll" and "roll" in own:
        card = own.get("use_release_card")
        return UseReleaseCard(card.deck) if card is not None else Roll()
    return EndTurn() if decision_kind == "manage" and "end_turn" in own else None


class AutoMove:
    """The mode, and whether the present decision has been taken over by a press."""

    def __init__(self) -> None:
        self.on = False
        self._kept_decision = 0

    def toggle(self) -> bool:
        """Switches the mode; switching it off does nothing else [IND-AUTO-11]."""
        self.on = not self.on
        return self.on

    def press(self, decision_id: int) -> bool:
        """A press: the decision is the player's from now on, the mode stays [IND-AUTO-09]. True if it was not yet."""
        changed = self.on and self._kept_decision != decision_id
        self._kept_decision = decision_id
        return changed

    def plan(self, decision_id: int, decision_kind: str, options: Sequence[Option], seat: int) -> Action | None:
        """What is to be done after the delay, if anything."""
        if not self.on or decision_id == self._kept_decision:
            return None
        return planned_action(decision_kind, options, seat)
