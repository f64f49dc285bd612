"""From filled tables or passages to an answer that shows what it rests on."""
