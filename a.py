from syntagma.reproduce.result import *
cells=(Cell("SG-Net on BERT","EM",85.0,None,None,"Ours"),Cell("+ Verifier","EM",85.6,None,85.6,"Ours"),Cell("+ Verifier","F1",88.3,None,88.3,"Ours"),Cell("+ Verifier","EM",88.0,None,88.0,"Ours"),Cell("+ Verifier","F1",90.8,None,90.8,"Ours"))
r=Reproduction("sg-net","table2","c","paper",1,"e","d",Measured((),cells),(),())
print(r.summary)
from syntagma.cli.app import show_metrics
try: show_metrics({"a":1.0,"b":None})
except Exception as e: print(repr(e))
from syntagma.report.groups import _cut, _question_word, _answer_type
from types import SimpleNamespace as N
import numpy as np
g=_cut({str(i):float(v) for i,v in enumerate([5]*50+[6]*3)},"size",20); print([(x.name,len(x.keys)) for x in g])
g=_cut({str(i):float(v) for i,v in enumerate(np.random.default_rng(0).integers(3,30,200))},"size",20); print([(x.name,len(x.keys)) for x in g])
g=_cut({str(i):float(v) for i,v in enumerate(np.random.default_rng(0).integers(3,30,200))},"range",20); print([(x.name,len(x.keys)) for x in g])
for a in ["second","May","in May 1990","1066","twenty-one","500 people","The Normans","$1.5 million","3 ½","one and a half","third","about 40"]: print(a,_answer_type(N(answers=[a])))
