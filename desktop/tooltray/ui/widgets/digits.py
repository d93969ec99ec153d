"""Fields for a whole number of 0 or more: only digits can be typed. A QIntValidator also takes signs, and commas between thousands."""

from PySide6.QtCore import QRegularExpression
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QLineEdit


def take_digits(field: QLineEdit, most: int) -> None:
    """Args:
    most: the largest useful number; longer input cannot be typed.
    """
    field.setValidator(QRegularExpressionValidator(QRegularExpression(f"[0-9]{{0,{len(str(most))}}}"), field))
