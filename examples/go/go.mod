module biaswatch-asking

go 1.19
