"""What each AI client sees of all that is offered, and what that costs."""
