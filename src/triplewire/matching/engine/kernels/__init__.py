"""What runs compiled: functions over arrays, and the only modules that know the compiler."""
