/** Every component in every state, for those who build pages; `/components` of the operator pages. */
import type { ComponentChildren } from 'preact';
import { Chart, Spark } from '../../components/chart.tsx';
import {
  Boxes,
  Button,
  ButtonLink,
  FaultSummary,
  Field,
  Select,
  TextArea,
} from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import { ICONS, type IconName } from '../../components/icons.ts';
import { Chips, DialogButton, Tabs, ToastButton } from '../../components/interactive.tsx';
import { Island } from '../../components/island.tsx';
import { SelectionBar } from '../../components/selection.tsx';
import {
  Avatar,
  Badge,
  Brandmark,
  Card,
  Facts,
  PageHead,
  Progress,
  Skeleton,
  StateOf,
  Table,
  Tile,
} from '../../components/surfaces.tsx';
import { Clock, Mode, Time, TimeOfDay } from '../../components/time.tsx';

const TOKENS = ['page', 'surface', 'sunken', 'brand', 'brand-soft', 'good', 'warn', 'bad', 'info'];

const names = Object.keys(ICONS) as readonly IconName[];

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of all components.
export function ComponentsPage() {
  return (
    <>
      <PageHead title="Components" state={<Badge tone="good">Every state</Badge>} />
      <Part title="Buttons">
        <p class="ways">
          <Button rank="main" icon="send">
            Primary
          </Button>
          <Button>Plain</Button>
          <Button rank="quiet">Quiet</Button>
          <Button rank="bad" icon="trash-2">
            Destructive
          </Button>
          <Button disabled>Disabled</Button>
          <Button big icon="arrow-down">
            Big
          </Button>
          <Button rank="quiet" icon="ellipsis" label="More" />
          <ButtonLink href="#buttons" icon="download">
            Link
          </ButtonLink>
        </p>
      </Part>
      <Part title="Fields">
        <Field id="plain-field" label="Name" hint="As it stands in the document." autoComplete="off" />
        <Field id="filled-field" label="City" value="Lisbon" autoComplete="off" />
        <Field
          id="wrong-field"
          label="E-mail"
          value="ana@"
          error="Give the part after the @."
          autoComplete="off"
        />
        <Field id="off-field" label="Country" value="Portugal" disabled />
        <Field id="code-field" class="code" label="Code" inputMode="numeric" maxLength={6} value="419" />
        <Select
          id="choice-field"
          label="Role"
          value="sender"
          options={[
            ['sender', 'Sender'],
            ['administrator', 'Administrator'],
          ]}
        />
        <TextArea id="text-field" label="Message" rows={2} value={'Please sign\nthis week.'} />
        <Field id="file-field" label="Logo" type="file" />
        <Boxes
          legend="Scopes"
          hint="None selected: all."
          boxes={[
            { name: 'read', text: 'read', checked: true },
            { name: 'sign', text: 'sign', checked: false },
          ]}
        />
        <label class="tick">
          <input type="checkbox" checked /> Remember this
        </label>
      </Part>
      <Part title="A refused form">
        <FaultSummary title="Please correct the marked entries:" faults={[['wrong-field', 'E-mail']]} />
      </Part>
      <Part title="Title of a page">
        <PageHead
          from={{ href: '#title', text: 'Jobs' }}
          title={<span>invoice-88213.pdf</span>}
          state={<Badge tone="bad">Failed</Badge>}
        >
          <Button icon="copy">Copy as curl</Button>
        </PageHead>
      </Part>
      <Part title="Badges and chips">
        <p class="ways">
          <Badge>Not sent</Badge>
          <Badge tone="info">Waiting</Badge>
          <Badge tone="good">Concluded</Badge>
          <Badge tone="warn">Ends soon</Badge>
          <Badge tone="bad">Refused</Badge>
        </p>
        <Island
          name="chips"
          of={Chips}
          props={{ label: 'Filters', names: ['Waiting for others', 'Sent by me', 'Any time'] }}
        />
      </Part>
      <Part title="Tiles">
        <div class="tiles">
          <Tile href="#tiles" name="Waiting for me" figure="2" />
          <Tile href="#tiles" name="Waiting for others" figure="37" note="5 end this week">
            <Spark values={[3, 5, 4, 8, 7, 9]} tone="info" />
          </Tile>
          <Tile href="#tiles" name="Concluded, 30 days" figure="184" />
        </div>
      </Part>
      <Part title="Table">
        <Table
          caption="Documents"
          heads={['Document', 'People', 'State']}
          rows={[
            {
              key: 'services',
              cells: [
                'Services agreement',
                <Avatar name="Ana Lima" done />,
                <Badge tone="info">Waiting</Badge>,
              ],
            },
            {
              key: 'offer',
              cells: ['Offer letter', <Avatar name="Lena Pohl" />, <Badge tone="bad">Refused</Badge>],
            },
          ]}
        />
        <SelectionBar
          label="Selected documents"
          text="2 selected"
          clear="Clear the selection"
          onClear={() => {}}
        >
          <Button icon="bell">Remind</Button>
        </SelectionBar>
        <Table caption="Documents, none" heads={['Document', 'State']} rows={[]} empty="No document fits." />
        <Table caption="Documents, loading" heads={['Document', 'State']} rows={undefined} />
        <Facts
          pairs={[
            ['Profile', 'contracts'],
            ['Created', <Time at="2026-05-26T15:42:11.123Z" />],
          ]}
        />
      </Part>
      <Part title="Times">
        <Facts
          pairs={[
            ...(['relative', 'local', 'utc'] as const).map(
              (mode) =>
                [
                  mode,
                  <Mode.Provider value={mode}>
                    <Clock.Provider value={Date.parse('2026-05-26T15:42:31.000Z')}>
                      <Time at="2026-05-26T15:42:11.123Z" />, <TimeOfDay at="2026-05-26T15:42:11.123Z" />
                    </Clock.Provider>
                  </Mode.Provider>,
                ] as const,
            ),
            ['absent', <Time at={null} />],
          ]}
        />
      </Part>
      <Part title="Chart">
        <Chart
          series={{ since: '2026-05-26T00:00:00.000Z', intervalSeconds: 14_400 }}
          summary="Jobs by the time of their end: 61 completed, 3 failed"
          lines={[
            { name: 'completed', tone: 'good', look: 'area', values: [4, 9, 17, 12, 11, 8] },
            { name: 'failed', tone: 'bad', values: [0, 0, 2, 0, 1, 0] },
            { name: 'canceled', tone: 'info', look: 'dashed', values: [1, null, 3, 2, 0, 1] },
          ]}
        />
      </Part>
      <Part title="Progress">
        <Progress done={0} of={5} label="Nothing done" />
        <Progress done={2} of={5} label="2 of 5 done" />
        <Progress done={5} of={5} label="All done" />
      </Part>
      <Part title="Tabs, dialog and toast">
        <Island
          name="tabs"
          of={Tabs}
          props={{
            id: 'signature',
            label: 'How to sign',
            tabs: [
              { name: 'Type', text: 'Your typed name.' },
              { name: 'Draw', text: 'A drawing.' },
              { name: 'Upload', text: 'A picture.' },
            ],
          }}
        />
        <div class="ways">
          <Island
            name="dialog"
            of={DialogButton}
            props={{ id: 'sample-dialog', open: 'Open a dialog', title: 'Sign the document', close: 'Close' }}
          />
          <Island name="toast" of={ToastButton} props={{ label: 'Show a toast', text: 'It is saved.' }} />
        </div>
      </Part>
      <Part title="Messages">
        <p class="outcome good">The document was sent.</p>
        <p class="outcome bad">The service cannot be reached.</p>
        <p class="outcome busy">One moment, please.</p>
      </Part>
      <Part title="In the place of data">
        <div class="tiles">
          <StateOf icon="inbox" title="No documents yet">
            <p>Documents that you send are listed here.</p>
            <ButtonLink href="#data">New document</ButtonLink>
          </StateOf>
          <StateOf icon="triangle-alert" tone="bad" title="The list could not be loaded">
            <Button>Try again</Button>
          </StateOf>
          <StateOf icon="circle-check" tone="good" title="You signed">
            <p>Bruno Dias signs next.</p>
          </StateOf>
        </div>
        <Skeleton lines={3} label="The list is being loaded." />
      </Part>
      <Part title="Colours, letters and icons">
        <Brandmark name="Acme Lda" />
        <ul class="swatches">
          {TOKENS.map((name) => (
            <li>
              <svg class="swatch" aria-hidden="true">
                <rect width="100%" height="100%" fill={`var(--${name})`} />
              </svg>{' '}
              --{name}
            </li>
          ))}
        </ul>
        <ul class="swatches">
          {names.map((name) => (
            <li>
              <Icon name={name} /> {name}
            </li>
          ))}
        </ul>
      </Part>
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="part">
      <Card title={title}>
        <div class="body stack">{children}</div>
      </Card>
    </div>
  );
}
