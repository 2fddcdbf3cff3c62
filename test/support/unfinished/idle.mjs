// Does nothing until it is ended.
setInterval(() => {}, 1_000);
