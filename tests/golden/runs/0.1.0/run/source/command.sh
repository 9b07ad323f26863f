cd /home/user
ddptrain run houses.yaml
