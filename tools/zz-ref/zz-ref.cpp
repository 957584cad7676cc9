#include "luminal/InitAll.h"
#include "luminal/Target/PT2.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <fstream>
#include <cstdio>
#include <deque>
using namespace luminal; using namespace mlir;
// zz-ref model.pt2 outdir dtype:shape:file...   ; states are written too
int main(int argc,char**argv){
  DialectRegistry registry; registerAllDialects(registry); MLIRContext ctx(registry); ctx.disableMultithreading();
  auto m=importPT2(&ctx,argv[1]); if(!m) return 2;
  auto zip=ZipArchive::open(argv[1]); if(!zip) return 2;
  auto f=*m->getOps<func::FuncOp>().begin();
  SmallVector<reference::Tensor> args; std::deque<std::vector<char>> bufs; int next=3;
  for(unsigned i=0;i<f.getNumArguments();++i){
    auto t=cast<RankedTensorType>(f.getArgument(i).getType());
    auto src=f.getArgAttrOfType<DictionaryAttr>(i,hlir::kSourceAttr);
    DType dt=*hlir::getDType(t.getElementType());
    if(src){
      auto b=zip->resolve(src.getAs<StringAttr>("member").getValue().str()); if(!b) return 2;
      args.push_back(reference::Tensor::borrow(dt,t.getShape(),b->data+src.getAs<IntegerAttr>("offset").getInt()));
      bufs.emplace_back(); bufs.back().resize(0);
      static std::deque<Bytes> keep; keep.push_back(*b);
    } else {
      if(next>=argc){ fprintf(stderr,"missing input\n"); return 2; }
      StringRef a=argv[next++]; auto [d,rest]=a.split(':'); auto [shape,file]=rest.split(':');
      SmallVector<int64_t> s; SmallVector<StringRef> parts; shape.split(parts,',',-1,false); for(auto p:parts){int64_t v; p.getAsInteger(10,v); s.push_back(v);}
      std::ifstream in(file.str(),std::ios::binary); bufs.emplace_back(std::istreambuf_iterator<char>(in),std::istreambuf_iterator<char>());
      if(std::string(dtypeName(dt))!=d.str()){fprintf(stderr,"dtype %s wanted %s\n",d.str().c_str(),std::string(dtypeName(dt)).c_str());return 2;}
      args.push_back(reference::Tensor::borrow(dt,s,bufs.back().data()));
    }
  }
  auto r=reference::evaluate(f,args); if(failed(r)) return 2;
  int o=0;
  for(unsigned i=0;i<r->size();++i){
    auto u=f.getResultAttrOfType<IntegerAttr>(i,hlir::kUpdatesAttr);
    std::string name;
    if(u) name="state_"+f.getArgAttrOfType<StringAttr>(u.getInt(),hlir::kNameAttr).str(); else name="out_"+std::to_string(o++);
    auto&t=(*r)[i];
    std::ofstream out(std::string(argv[2])+"/"+name,std::ios::binary); out.write(t.data(),t.getNumBytes());
    printf("%s %s",name.c_str(),std::string(dtypeName(t.getDType())).c_str()); for(auto x:t.getShape()) printf(" %ld",(long)x); printf("\n");
  }
  return 0;
}
