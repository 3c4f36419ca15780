"""Multiple-choice reading comprehension."""
