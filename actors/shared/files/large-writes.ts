/**
 * Lets few writes and syncs of large files run at a time. They wait for the disk, each on a thread of the four that libuv has for
 * all files: the others are left to what is quick, such as a look at a folder for `GET /api/ready`.
 */
const MAX_RUNNING = 2;

/** Bytes from which a file is large. */
const LARGE_BYTES = 1024 * 1024;

const waiting: (() => void)[] = [];
let running = 0;

/** Runs the work at once for a smaller file, else in its turn. @param length bytes of the file so far */
export async function writingLarge<Result>(length: number, work: () => Promise<Result>): Promise<Result> {
  if (length < LARGE_BYTES) return work();
  if (running === MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
