package main

// root is the tree of commands.
var root = &command{
	name:    "hambench",
	about:   "hambench: a laboratory for stochastic Hamiltonian samplers.",
	example: "hambench reproduce --only bottleneck",
	sub: []*command{
		reproduceCommand,
		runCommand,
		studyCommand,
		slurmCommand,
		sampleCommand,
		oracleCommand,
		judgeCommand,
		dataCommand,
		listCommand,
		exportCommand,
		reportCommand,
		certifyCommand,
		claimsCommand,
		gateCommand,
		storeCommand,
		versionCommand,
	},
}
