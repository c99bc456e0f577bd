# The file server of study III in Filebench's language: create-write, append, read, delete, stat.
define fileset name=files,path={directory},size={file_size},entries={max(10, round(files))},dirwidth=1000000,prealloc=80
define process name=server,instances=1
{{
  thread name=client,memsize=10m,instances={threads}
  {{
    flowop createfile name=create1,filesetname=files,fd=1
    flowop writewholefile name=write1,srcfd=1,fd=1,directio=1
    flowop closefile name=close1,fd=1
    flowop openfile name=open2,filesetname=files,fd=1
    flowop appendfilerand name=append2,iosize=16k,fd=1,directio=1
    flowop closefile name=close2,fd=1
    flowop openfile name=open3,filesetname=files,fd=1
    flowop readwholefile name=read3,fd=1,directio=1
    flowop closefile name=close3,fd=1
    flowop deletefile name=delete4,filesetname=files
    flowop statfile name=stat5,filesetname=files
  }
}
run {warm_up + runtime}
