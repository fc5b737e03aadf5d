"""Extra: what goes wrong on the way from colour to grey, and what the grader must say about it."""

from tools.planted import Mistake

MASK = "mask = x < width"
PIXELS = "pixels = image_ptr + y * stride_h + x * stride_w"
RED = "red = tl.load(pixels, mask=mask).to(tl.int32)"
GREEN = "green = tl.load(pixels + 1, mask=mask).to(tl.int32)"
BLUE = "blue = tl.load(pixels + 2, mask=mask).to(tl.int32)"
GREY = "grey = (77 * red + 150 * green + 29 * blue + 128) >> 8"
STORE = "tl.store(grey_ptr + y * width + x, grey.to(tl.uint8), mask=mask)"
GRID = "grid = (height, triton.cdiv(width, BLOCK))"
START = "    height, width, _ = image.shape\n"


def narrow(line: str) -> str:
    return line.replace(".to(tl.int32)", "")


# fmt: off
mistakes = [
    Mistake("the bytes stay bytes, and wrap around",
            {RED: narrow(RED), GREEN: narrow(GREEN), BLUE: narrow(BLUE)}, "wrap"),
    Mistake("rounded down", {GREY: GREY.replace(" + 128", "")}, "The half that rounds is not added"),
    Mistake("blue is taken to be first",
            {RED: RED.replace("pixels", "pixels + 2"), BLUE: BLUE.replace("pixels + 2", "pixels")},
            "taken for blue, green, red"),
    Mistake("the image is taken for three planes",
            {PIXELS: "pixels = image_ptr + y * width + x\n    plane = tl.num_programs(0) * width",
             GREEN: GREEN.replace("+ 1", "+ plane"), BLUE: BLUE.replace("+ 2", "+ 2 * plane")},
            "taken for three planes"),
    Mistake("the same weight for each channel", {GREY: "grey = (red + green + blue) // 3"},
            "the same weight"),
    Mistake("divided by 255", {GREY: GREY.replace(">> 8", "// 255")}, "is right"),
    Mistake("rows are taken to lie side by side", {PIXELS: PIXELS.replace("stride_h", "width * 3")}, "stride",
            fails="edges"),
    Mistake("the strides are handed over in the wrong order",
            {"*image.stride()[:2]": "image.stride(1), image.stride(0)"}, "past the end of image"),
    Mistake("the result is stored with the rows of the image",
            {STORE: STORE.replace("y * width", "y * stride_h")}, "past the end of"),
    Mistake("pixels past the end of a row are written", {MASK: "mask = x >= 0"}, "mask"),
    Mistake("a program for each pixel of a column alone", {GRID: "grid = (height, 1)"}, "never written"),
    Mistake("torch makes the image contiguous", {START: f"    image = image.contiguous()\n{START}"},
            "contiguous", fails="edges or honest"),
    Mistake("torch widens the bytes", {START: f"    image = image.to(torch.int32)\n{START}"}, "torch",
            fails="correct or honest"),
    Mistake("half done: the result is still to be stored",
            {STORE: "# TODO 3: compute the grey byte by the formula, and store it in a contiguous image."},
            "Still in the file is"),
]
