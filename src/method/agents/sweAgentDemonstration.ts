/** A whole run on a made-up repository, which shows the commands. Written for this program. */
export const demonstration = `Here is a demonstration of such a task on another repository. It shows how to use the commands; your own task may need other steps.

--- DEMONSTRATION ---
ISSUE:
mean() of an empty list raises ZeroDivisionError
\`weather.stats.mean([])\` fails with ZeroDivisionError. It should raise ValueError with the text "no readings", as \`median([])\` does.

(Open file: n/a)
(Current directory: /weather)
$

DISCUSSION
First I look for the tests of mean and median.
\`\`\`
search_dir median
\`\`\`

Found 4 matches for "median" in /weather:
/weather/weather/stats.py (2 matches)
/weather/tests/test_stats.py (2 matches)
(Open file: n/a)
(Current directory: /weather)
$

DISCUSSION
The tests are in tests/test_stats.py. I open that file to see their style.
\`\`\`
open tests/test_stats.py
\`\`\`

[File: /weather/tests/test_stats.py (11 lines total)]
1:import pytest
2:
3:from weather.stats import mean, median
4:
5:
6:def test_mean():
7:    assert mean([1, 3]) == 2
8:
9:
10:def test_median():
11:    assert median([1, 2, 5]) == 2
(Open file: /weather/tests/test_stats.py)
(Current directory: /weather)
$

DISCUSSION
I add a test after test_mean that expects the error in the issue.
\`\`\`
edit 8:8

def test_mean_of_nothing():
    with pytest.raises(ValueError, match="no readings"):
        mean([])

end_of_edit
\`\`\`

[File: /weather/tests/test_stats.py (15 lines total)]
1:import pytest
2:
3:from weather.stats import mean, median
4:
5:
6:def test_mean():
7:    assert mean([1, 3]) == 2
8:
9:def test_mean_of_nothing():
10:    with pytest.raises(ValueError, match="no readings"):
11:        mean([])
12:
13:
14:def test_median():
15:    assert median([1, 2, 5]) == 2
The file was edited. Check that the lines are correct, and edit again if necessary.
(Open file: /weather/tests/test_stats.py)
(Current directory: /weather)
$

DISCUSSION
The test is in place, but a blank line is missing before it. I add it.
\`\`\`
edit 8:8


end_of_edit
\`\`\`

[File: /weather/tests/test_stats.py (16 lines total)]
1:import pytest
2:
3:from weather.stats import mean, median
4:
5:
6:def test_mean():
7:    assert mean([1, 3]) == 2
8:
9:
10:def test_mean_of_nothing():
11:    with pytest.raises(ValueError, match="no readings"):
12:        mean([])
13:
14:
15:def test_median():
16:    assert median([1, 2, 5]) == 2
The file was edited. Check that the lines are correct, and edit again if necessary.
(Open file: /weather/tests/test_stats.py)
(Current directory: /weather)
$

DISCUSSION
The test expects what the issue asks for, and I did not change the code. I am done.
\`\`\`
submit
\`\`\`
--- END OF DEMONSTRATION ---`;
