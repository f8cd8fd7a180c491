package sql
import ("testing";"os";"strings";"fmt";"context";"math/big")
func TestZZX(t *testing.T){
 _,s:=open(t,Config{})
 run(t,s,`CREATE TABLE t(id NUMBER,n1 NUMBER,n2 NUMBER,n3 NUMBER,t1 VARCHAR2(20),t2 VARCHAR2(20))`)
 for i,r:=range []string{"NULL,3,-0.5,'hello',NULL","7,NULL,1000.001,'b','World l'","0,-12.75,NULL,NULL,'c'","2,2,2,'aXc','abc'"} { run(t,s,fmt.Sprintf("INSERT INTO t VALUES (%d,%s)",i,r)) }
 pg:=map[string]string{}
 b,_:=os.ReadFile("/tmp/xc/pg.out")
 for _,l:=range strings.Split(string(b),"\n"){ p:=strings.Split(l,"|"); if len(p)==3 {pg[p[0]+"|"+p[1]]=p[2]} }
 b,_=os.ReadFile("/tmp/xc/exprs.txt")
 same,diff:=0,0
 for i,e:=range strings.Split(string(b),"\n"){
  e=strings.ReplaceAll(strings.ReplaceAll(e,"AS NUMERIC)","AS NUMBER)"),"VARCHAR(10)","VARCHAR2(10)")
  rows,err:=s.Query(context.Background(),"SELECT id, "+e+" FROM t ORDER BY id")
  if err!=nil { if _,ok:=pg[fmt.Sprintf("%d|0",i)]; ok {diff++; if diff<40 {fmt.Println("ERR",err,e)}}; continue}
  for _,r:=range rows { want,ok:=pg[fmt.Sprintf("%d|%s",i,r[0])]; if !ok {continue}
   a,ok1:=new(big.Rat).SetString(r[1]); c,ok2:=new(big.Rat).SetString(want)
   if r[1]==want {same++;continue}
   if ok1&&ok2 { d:=new(big.Rat).Sub(a,c); d.Abs(d); if m:=new(big.Rat).Abs(c); d.Cmp(m.Mul(m,big.NewRat(1,1000000000000000000)))<=0 {same++;continue} }
   diff++; if diff<40 {fmt.Printf("row %s got %q want %q: %.300s\n",r[0],r[1],want,e)}
  }
 }
 fmt.Println("same",same,"diff",diff)
}
