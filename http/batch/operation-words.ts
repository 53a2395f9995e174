/**
 * What each operation of the batch service does, at more length than its summary, for those who read its description.
 * Source: Batch Signing Service API, "Endpoints"; batch-gaps §§2, 3, 14 and 15.
 */

/** Method and path → CommonMark. */
export const OPERATION_WORDS: { readonly [operation: string]: string } = {
  'POST /api/auth/login':
    'For browsers. The key is compared in constant time. `ReturnUrl` must be a path of this service; anything else counts as `/`. Ten failures in a minute from one address end in 429. A wrong key is answered with the login page where the client prefers HTML.',
  'POST /api/auth/logout': 'Works with and without a session.',
  'GET /login': 'Open to anyone. `error` (`invalid` or `server`) shows the text that belongs to it.',
  'GET /api/metrics':
    'Counters begin at zero with the process; gauges are read from the store when asked, so they are right directly after a restart. Open to anyone when `Metrics:RequireApiKey` is false.',
  'POST /api/files':
    'A form with one part `file`. `format` and `profile` may be fields of the form or members of the query, which win. The file is stored under a name of its own below `input/`; `fileName` keeps the one it was sent with. With an `Idempotency-Key` (at most 24 hours old) the same upload sent again is answered with the job of the first.',
  'GET /api/jobs':
    'Newest first; `totalCount` is exact. `status`, `format` and `source` may be repeated or separated by commas. `folder` is the name of an input folder or `(upload)`. `pageSize` above 200 is lowered to 200.',
  'DELETE /api/jobs':
    'Forgets jobs that are Completed, Failed or Canceled, in transactions of many. Their files stay, and a canceled or failed input is not taken again by its watcher. Jobs with files still to be put away, and those a client may ask for by its upload key, are skipped.',
  'GET /api/jobs/{id}': 'The history has one entry for each transition, oldest first.',
  'GET /api/jobs/{id}/output':
    'As an attachment with its name. The `ETag` is the SHA-256 of the file. One range may be asked for; several are answered with the whole file.',
  'POST /api/jobs/{id}/cancel':
    'Only a job that is Queued or AwaitingSigner can be canceled. Its input stays where it is and is not taken again by its watcher. For a waiting job the remote portal is told afterwards; that it cannot be reached undoes nothing.',
  'POST /api/jobs/{id}/retry':
    'The failed job stays Failed; the new one names it as its parent. The original input must still be there, and no active job may have it.',
  'POST /api/jobs/retry':
    'Each job as if it had been asked for alone; what cannot be done is told with its code, and the others go on. `countOnly` only counts. A member that is not known here is refused, since it would widen what is acted on.',
  'POST /api/jobs/cancel':
    'Each job as if it had been asked for alone; what cannot be done is told with its code, and the others go on. `countOnly` only counts.',
  'GET /api/profiles':
    'In the order of the configuration. The one with `default` signs uploads that name none.',
  'GET /api/statistics':
    'Over a window up to now (`15m`, `24h`, `7d`). Times are in milliseconds; what people take to sign is in none of them. Jobs that were cleared are not counted.',
  'GET /api/pipeline/state': 'Counts against the actions limit, as the other operations of the pipeline do.',
  'POST /api/pipeline/pause':
    'Idempotent: pausing a paused pipeline changes nothing, the reason included. Uploads and watchers go on; jobs stay Queued.',
  'POST /api/pipeline/resume': 'Idempotent. The next jobs are claimed at once, oldest first.',
  'GET /api/folders':
    '`fileCount` counts waiting files up to 50. A watcher that used up its budget of failures is `Stopped` with its `lastError` until the service is started anew.',
  'POST /api/rescan':
    'Does not wait until files are stable, and takes canceled and failed ones too. Files below a folder that is watched recursively are named by their relative path.',
  'POST /api/cleanup': 'Nothing is ever removed: there is no retention policy.',
  'GET /api/events': 'Newest first. `kind` may be repeated or separated by commas.',
  'GET /api/actors':
    'Everything with a life of its own is an actor. Without `kind` the kinds are counted; with it its actors are listed, a page at a time (`after` is the `next` of the page before).',
  'GET /api/actors/{kind}/{id}':
    'With the effects and timers it waits for, and the messages it would take now.',
  'POST /api/actors/{kind}/{id}/restart':
    'For an actor that supervision has stopped after too many failures.',
  'GET /api/runtime': 'Delays and commits are quantiles, in milliseconds.',
  'GET /api/mails':
    'Of all organizations, newest first. Kept for 30 days. Not there when the portal is not served. `pageSize` above 200 is lowered to 200.',
  'GET /api/mails/{id}': 'With its last tries, oldest first.',
  'GET /api/mails/{id}/text':
    'Only while mails are written to a folder, that is, without a relay. It holds links and codes that let people sign.',
  'GET /api/health': 'For supervisors of processes: it says nothing about whether work can be done.',
  'GET /api/whoami':
    'With a session the scheme is `Cookie`, with the key `ApiKey`; when both are sent the key decides.',
  'GET /api/ready':
    'Probes the store, each input folder, each profile and the license. 503 with the same body when any of them fails.',
  'GET /': 'Refreshes itself every `Dashboard:PollIntervalSeconds`.',
  'GET /jobs': 'The filters are those of `GET /api/jobs`.',
  'GET /jobs/{id}': 'Stops refreshing once the job has ended.',
  'GET /input': 'One card for each folder, with a rescan of it or of all.',
  'GET /mails': 'Not there when the portal is not served. Without a relay each mail can be read.',
  'GET /system': 'What `check-config` and `GET /api/profiles` say, and pause and resume with a reason.',
  'GET /assets/{name}': 'The name holds a digest of the content, so that it may be kept for good.',
  'GET /openapi/v1.json': 'Made from the route table of the running service.',
  'GET /scalar/v1': 'Loads nothing from anywhere else.',
};
