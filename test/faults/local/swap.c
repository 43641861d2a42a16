/* Exchanges two names of a directory as fast as it can, for as long as it lives: DIRECTORY ONE OTHER. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int directory = argc == 4 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
  if (directory < 0) return 1;
  puts("swapping");
  fflush(stdout);
  for (;;) {
    if (renameat2(directory, argv[2], directory, argv[3], RENAME_EXCHANGE) != 0) return 2;
  }
}
