// Owns the key made on the empty first screen: shown once, and kept in sight until it is said to be copied.
class NewKey {
  secret = $state<string | null>(null)
}

export const newKey = new NewKey()
