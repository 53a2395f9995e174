/** Times of requests by the service's own clock, read from the lines that it writes to its log files. */
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LatencyRecorder } from '../frame/latency.ts';

const ANSWERED =
  /^(\S+) \[INF\] Request answered\. \{Method: "POST", Route: "([^"]+)", Status: (\d+), Ms: (\d+(?:\.\d+)?),/;

export interface AnsweredRequests {
  /** Path of the route. */
  readonly route: string;
  readonly status: number;
  /** Wall-clock milliseconds: requests that began between them, both included. */
  readonly from: number;
  readonly until: number;
}

/** Reads the times from head to end of answer of the POST requests that match. @param folder of the log files */
export async function serviceTimes(folder: string, wanted: AnsweredRequests): Promise<LatencyRecorder> {
  const times = new LatencyRecorder();
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      const [, at = '', route, status, millis] = ANSWERED.exec(line) ?? [];
      if (route !== wanted.route || Number(status) !== wanted.status) continue;
      const began = Date.parse(at) - Number(millis);
      if (began >= wanted.from && began <= wanted.until) times.record(Number(millis));
    }
  }
  return times;
}
