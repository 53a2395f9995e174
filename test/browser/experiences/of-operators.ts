/** Experiences of people who operate the service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, run } from '../../commands/program.ts';
import { Service, temporaryRoot } from '../../service/service.ts';
import { violationsOf } from '../axe.ts';
import { logIn } from '../browser.ts';
import type { Experience } from './stage.ts';

const FREE_PORTS = ['--Batch:Url=http://127.0.0.1:0', '--Portal:Url=http://127.0.0.1:0'];

const whyStuck: Experience = {
  number: 11,
  title: '"Why is it stuck?" in one click',
  leftOut: '10,000 retries in ten seconds: service/jobs-at-scale',
  async run(stage) {
    const service = await Service.start(stage, { root: await temporaryRoot(stage) });
    const { jobId } = await service.upload('broken.pdf', 'this is no PDF');
    await service.finished(jobId);
    const page = await stage.page(service.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await logIn(page, service.url, await service.key());
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('1 job failed: The PDF is damaged.').waitFor();
    await stage.act('show the failed jobs of the overview', () =>
      page.getByRole('navigation').getByRole('link', { name: /^Jobs/ }).click(),
    );
    await stage.act('the view of failed jobs', () =>
      page
        .getByRole('navigation', { name: 'Views' })
        .getByRole('link', { name: /^Failed/ })
        .click(),
    );
    await stage.act('look at the job beside the list', () =>
      page.getByRole('link', { name: 'broken.pdf' }).press('Enter'),
    );
    await page.getByRole('dialog', { name: 'broken.pdf' }).waitFor();
    await stage.act('close it', () => page.keyboard.press('Escape'));
    await stage.act('open its page', () => page.goto(`${service.url}/jobs/${jobId}`));
    await page.getByText('pdf.malformed').first().waitFor();
    const violations = await violationsOf(page);
    stage.expect(violations.length === 0, violations.join('; '));
    await stage.act('open its actor', () => page.goto(`${service.url}/actors/job/${jobId}`));
    await page.getByRole('img', { name: /State machine of job/ }).waitFor();
    await stage.act('copy as curl', () => page.getByRole('button', { name: 'Copy as curl' }).click());
    await stage.act('the failures by cause', () => page.goto(`${service.url}/failures`));
    await stage.act('retry all of them', () =>
      page.getByRole('button', { name: 'Retry all of them' }).click(),
    );
    await stage.act('confirm the count', () =>
      page.getByRole('dialog').getByRole('button', { name: 'Retry 1 job' }).click(),
    );
    await page.getByText(/^1 of 1 done, 0 skipped\. Completed\.$/).waitFor();
  },
};

const insideActors: Experience = {
  number: 12,
  title: 'See inside the actors',
  leftOut: 'a million documents: bench lists; an actor that was given up: operators/actors.test.ts',
  async run(stage) {
    const service = await Service.start(stage, { root: await temporaryRoot(stage) });
    const { jobId } = await service.upload('order.txt', 'ten pieces');
    await service.finished(jobId);
    const page = await stage.page(service.url);
    await logIn(page, `${service.url}/actors`, await service.key());
    await stage.act('choose a kind', () =>
      page.getByRole('link', { name: 'job', exact: true }).first().click(),
    );
    await stage.act('open an actor', () => page.getByRole('link', { name: jobId }).click());
    await page.getByRole('img', { name: /State machine of job/ }).waitFor();
    await stage.act('its messages as text', () => page.getByText('As text').click());
    await page.getByText('CLAIM to Processing').first().waitFor();
    await stage.act('its state', () => page.getByText('Show', { exact: true }).click());
    await page.getByText('order.txt').first().waitFor();
    const json = await stage.act('the same as JSON', () =>
      service.json<{ state: string }>(`/api/actors/job/${jobId}`),
    );
    stage.expect(json.state === 'Completed', `the API says ${json.state}`);
    await stage.act('the threads', () => page.goto(`${service.url}/runtime`));
    await page.locator('main[data-refreshed]').waitFor();
  },
};

const operations: Experience = {
  number: 14,
  title: 'Operations with no surprises',
  leftOut: 'rules of alerts, keys in rotation: deploy and actors/portal/accounts tests',
  async run(stage) {
    const cwd = freshFolder();
    const wrong = ['--Batch:Url=nonsense', '--Portal:Smtp:Port=many', '--Logging:MinimumLevel=Loud'];
    const refused = await stage.act('start with three wrong settings', () => run(cwd, ['serve', ...wrong]));
    const said = refused.out + refused.err;
    for (const key of ['Batch:Url', 'Portal:Smtp:Port'])
      stage.expect(said.includes(key), `one message does not name ${key}: ${said.slice(0, 400)}`);
    const closed = [
      ...FREE_PORTS,
      '--Portal:Smtp:Host=127.0.0.1',
      '--Portal:Smtp:Port=1',
      '--Portal:Smtp:From=a@b.test',
    ];
    const doctor = await stage.act('doctor, with a closed port of mails', () =>
      run(cwd, ['doctor', ...closed]),
    );
    stage.expect(doctor.code === 1 && /smtp/i.test(doctor.out), doctor.out.slice(0, 400));
    const root = await temporaryRoot(stage);
    const service = await Service.start(stage, { root });
    const body = JSON.stringify({ reason: 'Lunch' });
    const headers = { 'content-type': 'application/json' };
    await stage.act('pause with a reason', () =>
      service.fetch('/api/pipeline/pause', { method: 'POST', headers, body }),
    );
    const { jobId } = await service.upload('order.txt', 'ten pieces');
    await stage.act('stop by SIGTERM', () => service.stop());
    const again = await stage.act('start again', () => Service.start(stage, { root }));
    const state = await again.json<{ paused: boolean; reason: string }>('/api/pipeline/state');
    stage.expect(state.paused && state.reason === 'Lunch', `the pause is ${JSON.stringify(state)}`);
    await stage.act('resume', () => again.fetch('/api/pipeline/resume', { method: 'POST' }));
    stage.expect((await again.finished(jobId)).status === 'Completed', 'the job is lost');
  },
};

const numbers: Experience = {
  number: 15,
  title: 'Numbers anyone can repeat',
  async run(stage) {
    const cwd = freshFolder();
    const words = ['engine', '--quick', '--only', 'sign Cades detached p256'];
    for (const name of ['one.json', 'two.json']) {
      const measured = await stage.act('measure', () => run(cwd, ['bench', ...words, '--json', name]));
      stage.expect(measured.code === 0, measured.out + measured.err);
    }
    const report = JSON.parse(readFileSync(join(cwd, 'one.json'), 'utf8')) as { environment?: object };
    stage.expect(Object.keys(report).length > 1, 'the result says nothing about the machine');
    const compared = await stage.act('compare two results', () =>
      run(cwd, ['bench', '--compare', 'one.json', 'two.json']),
    );
    stage.expect(compared.code === 0, compared.out + compared.err);
    const damaged = await stage.act('measure a damaged output', () =>
      run(cwd, ['bench', ...words, '--damage']),
    );
    stage.expect(damaged.code === 1, `the run ends with ${damaged.code}`);
  },
};

export const OF_OPERATORS: readonly Experience[] = [whyStuck, insideActors, operations, numbers];
