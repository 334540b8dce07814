export async function benchList(): Promise<any> {}
