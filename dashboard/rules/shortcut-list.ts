// Owns the list of keys as the shortcut sheet shows it; a test holds it to what the pages listen for.
export interface ShortcutGroup {
  title: string
  /** The keys, with blanks between them, and what they do. */
  keys: readonly (readonly [keys: string, does: string])[]
}

const pausing = ['p', 'Pause or resume live updates'] as const

export const shortcutGroups: readonly ShortcutGroup[] = [
  {
    title: 'Everywhere',
    keys: [
      ['?', 'This sheet'],
      ['g s', 'Sessions'],
      ['g a', 'Agents'],
      ['g f', 'Failures'],
      ['g p', 'Prompts'],
      ['g i', 'Ingest log'],
      ['g l', 'Alerts'],
      ['g c', 'Connect'],
      ['↑ ↓ Home End', 'Move in the list that has the focus'],
      ['Esc', 'Close or let go'],
    ],
  },
  {
    title: 'Sessions',
    keys: [
      ['j k', 'Next, previous row'],
      ['Enter o', 'Open'],
      ['/', 'Search'],
      ['.', 'Show new sessions'],
      ['c', 'Copy run id'],
      pausing,
    ],
  },
  {
    title: 'One session',
    keys: [
      ['j k', 'Next, previous step'],
      ['Enter o', 'Open'],
      ['e E', 'Next, previous error or marked step'],
      ['z', 'Axis: rows in view or whole session'],
      ['f', 'Follow the end'],
      ['[ ]', 'Previous, next session of the list'],
      ['c', 'Copy run id'],
      pausing,
    ],
  },
  {
    title: 'Failures',
    keys: [
      ['j k', 'Next, previous pattern'],
      ['Enter o', 'Open'],
      ['/', 'Search'],
      ['.', 'Read the list anew with new patterns'],
      pausing,
    ],
  },
  {
    title: 'Prompts',
    keys: [['j k', 'Next, previous agent'], ['Enter o', 'Open'], ['.', 'Show new agents or versions'], pausing],
  },
  {
    title: 'Deliveries of alerts',
    keys: [['j k', 'Next, previous delivery'], ['Enter o', 'Open'], ['.', 'Show new deliveries'], pausing],
  },
  {
    title: 'Ingest log',
    keys: [['j k', 'Next, previous request'], ['Enter o', 'Open'], ['.', 'Show new requests'], pausing],
  },
]
