"""What servers offer, all of it in one place: tools, to be switched and tried by hand; prompts and resources, to be seen."""
