from triplewire.cli import main

main()
