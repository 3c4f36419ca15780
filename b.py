import json,os,yaml,sys
from pathlib import Path
from syntagma.tasks.experiment import *
from syntagma.settings import to_dict
p="The dog barked."
json.dump({"version":"v2.0","data":[{"title":"a","paragraphs":[{"context":p,"qas":[{"id":"q1","question":"Who barked?","is_impossible":False,"answers":[{"text":"The dog","answer_start":0}]},{"id":"q2","question":"Who sang?","is_impossible":True,"answers":[]}]}]}]},open("d.json","w"))
e=Experiment("spans",DataSettings(("d.json",),("d.json",)),head={"objective":"answerability"})
f=Path("ver"); f.mkdir(exist_ok=True)
(f/"experiment.yaml").write_text(yaml.safe_dump(to_dict(e)))
json.dump({"accuracy":50.0,"total":2.0},open(f/"metrics.json","w"))
json.dump({"q1":{"accuracy":1.0},"q2":{"accuracy":0.0}},open(f/"examples.json","w"))
json.dump({"q1":"dog","q2":""},open(f/"predictions.json","w"))
json.dump({"q1":[{"text":"dog","start":4}],"q2":[]},open(f/"predictions.nbest.json","w"))
from syntagma.report.runs import read_systems
s=read_systems([f]); print(s[0].plan.metric)
from syntagma.report.pages.report_parts import tags_part
try: tags_part([f],s)
except BaseException as x: print(type(x),x)
