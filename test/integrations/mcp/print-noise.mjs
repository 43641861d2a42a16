// Prints to standard output in every way, all the time, from the moment on when the server has taken it over.
const original = process.stdout.write;
const timer = setInterval(() => {
  if (process.stdout.write === original) return;
  console.log("noise from console.log");
  console.info({ noise: "from console.info" });
  console.table([{ noise: 1 }]);
  process.stdout.write("noise without an end");
  process.stdout.write(Buffer.from('{"jsonrpc":"2.0","method":"noise"}\n'));
}, 2);
timer.unref();
