// Owns the start: mounts the dashboard.
import { mount } from 'svelte'
import './app.css'
import './controls.css'
import './lists.css'
import App from './App.svelte'

mount(App, { target: document.getElementById('app')! })
