"""What a person does with a result: whom to check next, and why."""
