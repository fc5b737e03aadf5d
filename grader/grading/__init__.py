"""One grading from the file to the verdict, and the processes that it takes."""
