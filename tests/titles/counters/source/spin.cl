// Never ends: every loop's end depends on what nobody ever stores.
kernel GROUP_SIZE(64, 1, 1) void counters_spin(volatile global uint* stop) {
  uint rounds = 0;
  while (stop[0] == 0)
    while (stop[1] == 0)
      while (stop[2] == 0) rounds++;
  stop[3] = rounds;
}
