# The mail server of study II in Filebench's language: delete, create-append, read-append, read.
define fileset name=mail,path={directory},size={file_size},entries={max(10, round(files))},dirwidth=1000000,prealloc=80
define process name=server,instances=1
{{
  thread name=client,memsize=10m,instances={threads}
  {{
    flowop deletefile name=delete1,filesetname=mail
    flowop createfile name=create1,filesetname=mail,fd=1
    flowop appendfilerand name=append1,iosize=16k,fd=1,directio=1
    flowop closefile name=close1,fd=1
    flowop openfile name=open2,filesetname=mail,fd=1
    flowop readwholefile name=read2,fd=1,directio=1
    flowop closefile name=close2,fd=1
    flowop openfile name=open3,filesetname=mail,fd=1
    flowop appendfilerand name=append3,iosize=16k,fd=1,directio=1
    flowop closefile name=close3,fd=1
    flowop openfile name=open4,filesetname=mail,fd=1
    flowop readwholefile name=read4,fd=1,directio=1
    flowop closefile name=close4,fd=1
  }
}
run {warm_up + runtime}
