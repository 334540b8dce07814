// How often signing in may be tried: from one address, and at one account from wherever the tries come.
import { Problem } from '../errors.ts'
import { RateLimit, type Allowance } from './rate-limit.ts'

const MAX_REMEMBERED = 10_000

export class SignInLimit {
  private readonly byAddress: RateLimit
  private readonly byAccount: RateLimit
  /** Where an account was signed in to before: guessing from elsewhere does not shut its owner out there. */
  private familiar = new Set<string>()

  constructor(triesPerMinute: number) {
    this.byAddress = new RateLimit(triesPerMinute)
    this.byAccount = new RateLimit(triesPerMinute)
  }

  /** @throws Problem rate_limited */
  fromAddress(address: string): void {
    refuseBeyond(this.byAddress.take(address))
  }

  /** Counted before the password is compared, so that tries side by side count too. @throws Problem rate_limited */
  atAccount(email: string, address: string): void {
    if (!this.familiar.has(placeOf(email, address))) refuseBeyond(this.byAccount.take(accountOf(email)))
  }

  /** The right password: this try was none of guessing. */
  succeeded(email: string, address: string): void {
    const place = placeOf(email, address)
    if (this.familiar.has(place)) return
    this.byAccount.giveBack(accountOf(email))
    if (this.familiar.size >= MAX_REMEMBERED) this.familiar.clear()
    this.familiar.add(place)
  }
}

const accountOf = (email: string) => email.normalize('NFKC').toLowerCase()
const placeOf = (email: string, address: string) => `${accountOf(email)} ${address}`

function refuseBeyond({ excess, resetSeconds }: Allowance): void {
  if (excess === 0) return
  throw new Problem('rate_limited', `Too many tries. Try again in ${resetSeconds} s.`, [], {
    'retry-after': String(resetSeconds),
  })
}
