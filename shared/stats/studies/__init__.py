"""The numbers a particular study publishes: BBQ, hiring."""
