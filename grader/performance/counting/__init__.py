"""What a launch would do at full size, counted; and which elements each program touches."""
