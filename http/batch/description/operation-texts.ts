/**
 * Long descriptions of the batch service's operations, for the API description.
 * Source: docs/batch-values.md §0, §§2, 3, 14 and 15.
 */

/** Method and path → CommonMark. */
export const OPERATION_TEXTS: { readonly [operation: string]: string } = {
  'POST /api/auth/login':
    'For browsers. The key is compared in constant time. `ReturnUrl` must be a path of this service; anything else counts as `/`. Ten failures in a minute from one address end in 429. A wrong key is answered with the login page where the client prefers HTML.',
  'POST /api/auth/logout': 'Works with and without a session.',
  'GET /login':
    'Open to anyone. `error` (`invalid` or `server`) shows the text that belongs to it. `once` is the token of a login link: the page shows a button, which sends it as `Once` and uses it up.',
  'GET /favicon.ico': 'Open to anyone, because browsers request it for every page, without credentials.',
  'GET /api/metrics':
    'Counters start at zero with the process; gauges are read from the store on each request, so they are correct directly after a restart. Open to anyone when `Metrics:RequireApiKey` is false.',
  'POST /api/files':
    'With `wait` the answer is 200 with the job when that has ended within so many seconds (at most 60), else 202 as without it. A form with one part `file`. `format`, `profile` and `operation` may be fields of the form or members of the query, which win. The file is stored under a name of its own below `input/`; `fileName` keeps the one it was sent with. With an `Idempotency-Key` (at most 24 hours old) the same upload sent again is answered with the job of the first; another one under the same key (content, file name, format, profile or operation differ) is refused with 422 `idempotency.mismatch`.',
  'POST /api/validate':
    'A form with one part `file`, and `format` where the content is ambiguous. `Signing:Trust` and the anchors of all profiles are trusted. The file is validated in the pool and removed. Clients that prefer HTML get a page; all others the XML report of ETSI TS 119 102-2. A detached signature needs its content, which only `sealwright verify --content` accepts.',
  'GET /validate': 'Sends the chosen file to `POST /api/validate` and shows its answer.',
  'GET /api/jobs':
    'Newest first; `totalCount` is exact. `status`, `format` and `source` may be repeated or separated by commas. `folder` is the name of an input folder or `(upload)`. `pageSize` above 200 is lowered to 200.',
  'DELETE /api/jobs':
    'Deletes jobs that are Completed, Failed or Canceled, in batches. Their files stay, and the watcher does not enqueue a canceled or failed input again. Jobs with files still to be moved, and those with a valid upload key, are skipped.',
  'GET /api/jobs/{id}': 'The history has one entry for each transition, oldest first.',
  'GET /api/jobs/{id}/output':
    'As an attachment with its name. The `ETag` is the SHA-256 of the file. One range may be asked for; several are answered with the whole file.',
  'POST /api/jobs/{id}/cancel':
    'Only a job that is Queued or AwaitingSigner can be canceled. Its input file stays in place, and the watcher does not enqueue it again. For a waiting job the service then notifies the remote portal; the job stays canceled when the portal cannot be reached.',
  'POST /api/jobs/{id}/retry':
    'The failed job stays Failed; the new one names it as its parent. The original input must still be there, and no active job may have it.',
  'POST /api/jobs/retry':
    'Acts on each job as a single request would; a job that cannot be changed is reported with its code, and the others continue. `countOnly` only counts. An unknown member is refused, because it would widen the selection.',
  'POST /api/jobs/cancel':
    'Acts on each job as a single request would; a job that cannot be changed is reported with its code, and the others continue. `countOnly` only counts.',
  'POST /api/operations':
    'With `dryRun` the matching jobs are counted and nothing happens. Otherwise the operation acts on the jobs that match and were made before the call, oldest first, in batches; it goes on after a restart. `filter` takes the filters of `GET /api/jobs`, and `errorCode`; `status` is limited to what the action is possible for. Skipped jobs are counted by code. Four operations run at the same time.',
  'GET /api/operations': 'Ended operations are kept for 30 days. `pageSize` above 200 is lowered to 200.',
  'GET /api/operations/{id}': '`done` and `skipped` grow while the state is Running or Canceling.',
  'POST /api/operations/{id}/cancel':
    'What was done stays done. The state is Canceling until the batch under way is counted.',
  'GET /api/webhooks/deliveries':
    'Calls of the webhooks of `Notifications:Webhooks`. Those that ended are kept for 7 days. `pageSize` above 200 is lowered to 200.',
  'POST /api/webhooks/deliveries/{id}/resend':
    'With the same id and body. A delivery that ended is pending again, with ten attempts; one that waits for its next attempt is attempted now.',
  'GET /api/webhooks/portal':
    'Counts of the last 30 days by state. At most 200 organizations. Only where the portal is served.',
  'GET /api/webhooks/portal/{organizationId}/deliveries':
    'With attempts and responses, without the bodies, which name participants. `pageSize` above 200 is lowered to 200. Empty for an unknown organization.',
  'POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend':
    'With the same id and body. The journal of the organization names the operator.',
  'POST /api/webhooks/replay':
    'Those of jobs that ended from `from` to `to`, both included; left out: without a bound. `failedOnly` false sends those again too that were delivered. At most 10,000 in one request, oldest first; `complete` is false when there are more, and the next request goes on with the failed ones that are left.',
  'GET /api/profiles':
    'In the order of the configuration. The one with `default` signs uploads that name none.',
  'GET /api/statistics':
    'Over a window up to now (`15m`, `24h`, `7d`). Times are in milliseconds; the time that people need to sign is not included. Deleted jobs are not counted.',
  'GET /api/statistics/series':
    'For charts: one number for each interval and end, oldest first. Deleted jobs are not counted.',
  'GET /api/failures':
    'Reads the newest 10,000 failed jobs. `remedy` says what usually ends the error; `POST /api/operations` retries the jobs of a group by `errorCode`.',
  'GET /api/pipeline/state':
    '`held` gives the reason and the time while no jobs are claimed because a disk is full or a folder is not writable; it ends automatically. Counts against the actions limit, as the other operations of the pipeline do.',
  'POST /api/pipeline/pause':
    'Idempotent: pausing a paused pipeline changes nothing, the reason included. Uploads and watchers go on; jobs stay Queued.',
  'POST /api/pipeline/resume': 'Idempotent. The next jobs are claimed at once, oldest first.',
  'GET /api/folders':
    '`fileCount` counts waiting files up to 50. A watcher that used up its budget of failures is `Stopped` with its `lastError` until the service is started anew.',
  'POST /api/rescan':
    'Does not wait until files are stable, and takes canceled and failed ones too. Files below a folder that is watched recursively are named by their relative path.',
  'POST /api/cleanup':
    'Runs the hourly cleanup now: deletes jobs that ended more than `Retention:JobsDays` ago. Their files stay. Without that setting nothing is removed.',
  'GET /api/events': 'Newest first. `kind` may be repeated or separated by commas.',
  'GET /api/actors':
    'Without `kind` it counts the actors of each kind; with `kind` it lists them page by page (`after` is the `next` of the previous page).',
  'GET /api/actors/{kind}/{id}': 'With its pending effects and timers, and the messages that it accepts now.',
  'POST /api/actors/{kind}/{id}/restart':
    'For an actor that supervision has stopped after too many failures.',
  'GET /api/actor-kinds/{kind}':
    'Deadlines are named `after <name>`, transitions without an event `always`. A transition with a condition may be refused.',
  'GET /api/changes':
    'Send the `version` of the answer before as `after`. The answer comes with the next step of any actor, or after `wait` seconds with the same version.',
  'GET /failures': 'What `GET /api/failures` says, and a retry of all jobs of a group.',
  'GET /actors': 'What `GET /api/actors` says, with filters in the address.',
  'GET /actors/{kind}/{id}': 'What `GET /api/actors/{kind}/{id}` says, with a picture of the state machine.',
  'GET /runtime': 'What `GET /api/runtime` says.',
  'GET /webhooks': 'What `GET /api/webhooks/deliveries` says, and sending again.',
  'GET /certificates': 'The certificates of `GET /api/profiles` with the findings of `GET /api/ready`.',
  'GET /documents': 'The actors of kind `document`; no title, person or content.',
  'GET /api/runtime':
    'Delays and commits are quantiles, in milliseconds. `nodes` is empty where one process has the store to itself.',
  'POST /api/runtime/nodes/{id}/drain':
    '`id` is the name of the node. It takes nothing new, finishes what is in progress within `Hosting:ShutdownTimeoutSeconds`, and ends with exit code 0.',
  'GET /api/mails':
    'Of all organizations, newest first. Kept for 30 days. Absent when the portal is not served. `pageSize` above 200 is lowered to 200.',
  'GET /api/mails/{id}': 'With its last tries, oldest first.',
  'GET /api/mails/{id}/html':
    'The page as written, under a policy that loads nothing and runs nothing. Available for mails that were written to a folder, until `Portal:MailFolderKeepDays` have passed.',
  'GET /api/mails/{id}/text':
    'Only while mails are written to a folder, that is, without a relay. It contains links and codes that authorize signatures.',
  'GET /api/health':
    'For process supervisors: it does not report whether the service can process jobs. Not subject to `AllowedHosts` and `Hosting:RequireHttps`.',
  'GET /api/whoami':
    'With a session the scheme is `Cookie`, with the key `ApiKey`; when both are sent the key decides.',
  'GET /api/ready':
    'Checks are Healthy, Degraded (this part does not work and the others do) or Unhealthy. 503 with the same body when any check is Unhealthy, else 200. The metric `batch_health_check`, the alert rules and `sealwright doctor` use the same names. Not subject to `AllowedHosts` and `Hosting:RequireHttps`.',
  'GET /': 'Refreshes itself every `Dashboard:PollIntervalSeconds`.',
  'GET /jobs': 'The filters are those of `GET /api/jobs`.',
  'GET /jobs/{id}': 'Stops refreshing once the job has ended.',
  'GET /input': 'One card for each folder, with a rescan of it or of all.',
  'GET /mails': 'Absent when the portal is not served. Without a relay each mail can be read.',
  'GET /system': 'What `check-config` and `GET /api/profiles` say, and pause and resume with a reason.',
  'GET /assets/{name}': 'The name contains a digest of the content, so it may be cached permanently.',
  'GET /openapi/v1.json': 'Built from the route table of the running service.',
  'GET /scalar/v1': 'Loads nothing from other hosts.',
};
