"""The web page: draw points or drop a file, choose a method, and watch it learn; all computing is the library's.

`protocol` is what page and server say to each other, `answers` who computes, `methods`, `features`, `presets` and
`figures` what there is to choose, `beside` what is drawn beside the picture, `surfaces` heights for level lines,
`descents` the step-size playground, `digits` a drawn 3 or 7, `files` what was dropped, `code` the program that repeats
a fit, `server` the door. The page itself is in the folder ``page``: modules as they are, without a build step; it draws
with ``drawing.js`` and ``stage.js`` of the replay.
"""
