"""The lab: experiments whose rows are kept as data, and figures that are drawn from the data.

An experiment is a function that measures one point, registered with its sizes (``experiment.py``); what it finds is
kept with how it was found (``record.py``). A figure is a function from kept rows to a chart and a sentence
(``figure.py``, ``chart.py``), and ``page.py`` puts all of them on one page. Experiments and their figures stand
together in ``experiments/``, a module for each subject; workloads in ``workloads/``.
"""
