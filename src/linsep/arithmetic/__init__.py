"""Numbers that can be relied on: intervals, doubled precision, whole numbers, exact linear algebra."""
