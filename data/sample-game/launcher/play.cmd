@echo off
rem Starts Lantern Deep where it lies.
cd /d "%~dp0.."
lantern.exe --scripts scripts\main.lua %*
